"""Small invented valuation workbooks for tests: a clean model, its variants, planted faults and look-alikes.

``from planted import clean_model, plant`` works in any test (pytest puts ``tests`` on the path)::

    model = clean_model(timing="mid")
    model.set("terminal_value", "={fcff[-1]}*(1+{terminal_growth})/({wacc}+{terminal_growth})")
    path = model.save(tmp_path / "model.xlsx")
    model.cell("terminal_value")            # "Valuation!B8", the address the finding must name

`run_one(model, path, check_id, params)` runs one check with every role bound as the builder knows it, so that checks
are tested apart from the locator; `workpaper(model, path)` gives all that checks may ask for.

The workbooks carry no stored values; where a stale one is needed, see `with_stored_values`.
"""

from .bound import bound_roles, run_one, workpaper
from .faults import plant
from .faults_of_value import FAULTS
from .lookalikes import LOOK_ALIKES
from .model import Model, clean_model, with_stored_values

__all__ = [
    "FAULTS",
    "LOOK_ALIKES",
    "Model",
    "bound_roles",
    "clean_model",
    "plant",
    "run_one",
    "with_stored_values",
    "workpaper",
]
