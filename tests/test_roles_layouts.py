"""The same valuation in other layouts: the same roles are found."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from roles_models import LANGUAGES, OUTPUTS, ROWS, Layout, build, names

LAYOUTS = st.builds(
    Layout,
    language=st.sampled_from(sorted(LANGUAGES)),
    across=st.booleans(),
    apart=st.booleans(),
    down=st.integers(0, 6),
    right=st.integers(0, 3),
    sheet=st.sampled_from(["DCF", "Sheet1", "估值", "Model (v2)", "Bob's model"]),
    gap=st.integers(1, 9),
)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(layout=LAYOUTS)
def test_every_layout_gives_every_role(layout, tmp_path):
    model = build(layout)
    roles = model.located(tmp_path)
    found = names(roles)
    assert {role: found.get(role) for role in model.cells} == model.cells
    assert {role: [str(cell) for cell in roles.series[role].cells] for role in ROWS} == model.series


@pytest.mark.parametrize(("scale", "word"), [(1e6, "millions"), (1e3, "thousands")])
def test_scale_of_a_thousand_keeps_amounts(scale, word, tmp_path):
    """120 million of cash is 120,000,000 whether the sheet counts in millions or thousands."""
    roles = build(Layout(scale=scale)).located(tmp_path)
    assert roles["cash"].amount == pytest.approx(120e6), word
    assert roles["shares"].amount == pytest.approx(80e6)
    assert roles["cash"].currency == "GBP"


def test_chinese_units_are_read(tmp_path):
    roles = build(Layout(language="chinese", scale=1e3)).located(tmp_path)
    assert roles["debt"].factor == 1e3
    assert roles["debt"].currency == "CNY"


@pytest.mark.parametrize("role", [role for role in OUTPUTS if role != "upside"])
def test_a_typed_output_is_still_bound(role, tmp_path):
    """A fault must not hide as `not found`: the typed cell is bound, and so is everything around it."""
    model = build(Layout(typed=(role,)))
    found = names(model.located(tmp_path))
    assert {name: found.get(name) for name in model.cells} == model.cells
