"""Progress shows after its delay, where it was asked for, and nowhere else."""

import io
import os
import subprocess
import sys
import time

import pytest

from xlcheck import progress


class Terminal(io.StringIO):
    """A standard error that calls itself a terminal."""

    def isatty(self):
        return True


@pytest.fixture
def on_terminal(monkeypatch):
    """Return a function that begins to show progress on a terminal, which keeps what it is sent."""

    def begin(delay=0.0):
        shown = Terminal()
        monkeypatch.setattr(sys, "stderr", shown)  # in the test itself: pytest lays its own between set-up and call
        monkeypatch.setattr(progress, "DELAY", delay)
        progress.let_progress_show(True)
        return shown

    monkeypatch.setenv("TERM", "xterm")
    yield begin
    progress.let_progress_show(False)


def until(condition):
    deadline = time.monotonic() + 5
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert condition()


def test_a_loop_says_what_it_does_and_how_much_is_done(on_terminal):
    terminal = on_terminal()
    seen = []
    for item in progress.watched(["a", "b", "c"], "Grading kilns [x]"):
        seen.append(item)
        if item == "c":
            until(lambda: "2/3" in terminal.getvalue())
    assert seen == ["a", "b", "c"]
    assert "Grading kilns [x]" in terminal.getvalue()


def test_a_stage_shows_below_the_loop_around_it(on_terminal):
    terminal = on_terminal()
    for _ in progress.watched([1], "Outer"):
        with progress.stage("Inner"):
            until(lambda: "Outer" in terminal.getvalue() and "Inner" in terminal.getvalue())
    assert terminal.getvalue().index("Outer") < terminal.getvalue().index("Inner")


def test_the_bars_are_erased_before_anything_is_printed(on_terminal):
    terminal = on_terminal()
    with progress.stage("Working"):
        until(lambda: "Working" in terminal.getvalue())
    assert terminal.getvalue().rstrip("\r\n").endswith(("\x1b[2K", "\x1b[?25h"))
    assert progress._display.bars is None


def test_no_colour_is_sent_where_nobody_wants_it(on_terminal, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    terminal = on_terminal()
    with progress.stage("Working"):
        until(lambda: "Working" in terminal.getvalue())
    assert "\x1b[3" not in terminal.getvalue()


def test_nothing_shows_before_the_delay(on_terminal):
    terminal = on_terminal(delay=30.0)
    with progress.stage("Short"):
        time.sleep(0.05)
    assert terminal.getvalue() == ""


def test_nothing_shows_in_a_library(on_terminal):
    terminal = on_terminal()
    progress.let_progress_show(False)
    with progress.stage("Working"):
        time.sleep(0.2)
    assert list(progress.watched([1, 2], "Looping")) == [1, 2]
    assert terminal.getvalue() == ""


def test_an_error_leaves_no_bar_behind(on_terminal):
    terminal = on_terminal()

    def fail():
        with progress.stage("Dividing"):
            until(lambda: "Dividing" in terminal.getvalue())
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert progress._display.tasks == []
    assert progress._display.bars is None


def run_in_terminal(*arguments, **environment):
    """Run the command line with standard error on a pseudo-terminal; return what that terminal was sent."""
    ours, theirs = os.openpty()
    code = "import sys\nfrom xlcheck import cli, progress\nprogress.DELAY = 0.0\nsys.exit(cli.main(sys.argv[1:]))"
    command = [sys.executable, "-c", code, *map(str, arguments)]
    variables = os.environ | {"TERM": "xterm"} | environment
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=theirs, env=variables) as process:
        os.close(theirs)
        sent = b""
        while chunk := _read(ours):
            sent += chunk
    os.close(ours)
    assert process.returncode == 0, sent
    return sent.decode()


def _read(descriptor):
    try:
        return os.read(descriptor, 4096)
    except OSError:  # the other end is closed
        return b""


@pytest.fixture(scope="module")
def kilns(tmp_path_factory):
    from planted import clean_model

    return clean_model().save(tmp_path_factory.mktemp("kilns") / "kilns.xlsx")


def test_the_command_line_shows_progress_on_a_terminal(kilns):
    assert "Recomputing" in run_in_terminal("roles", kilns)


def test_quiet_shows_none(kilns):
    assert run_in_terminal("roles", kilns, "--quiet") == ""
