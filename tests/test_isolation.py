"""A worker's limits: each kind of excess ends the worker with its own sentence and harms nobody else."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from xlcheck.confinement import Allowance
from xlcheck.errors import SubmissionError, UsageError, WorkerBrokeError, WorkerLostError
from xlcheck.isolation import run_apart

SHORT = Allowance(seconds=2, memory_mib=400, written_mib=1, open_files=64)


def echo(order: str) -> str:
    return order[::-1]


def spin(order: str) -> str:
    while True:
        pass


def sleep(order: str) -> str:
    time.sleep(60)
    return order


def hoard(order: str) -> str:
    return str(len(bytearray(900 << 20)))


def scribble(order: str) -> str:
    with tempfile.TemporaryFile() as file:
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        file.write(bytes(3 << 20))
    return "written"


def write_private(order: str) -> str:
    with tempfile.NamedTemporaryFile("w+") as file:
        file.write(order)
        file.seek(0)
        return file.read()


def write_to(order: str) -> str:
    Path(order).write_text("mine")
    return "written"


def remove(order: str) -> str:
    Path(order).unlink()
    return "removed"


def connect(order: str) -> str:
    with socket.socket() as wire:
        wire.connect(("127.0.0.1", int(order)))
    return "connected"


def launch(order: str) -> str:
    return subprocess.check_output([sys.executable, "-c", "print(1)"]).decode()


def die(order: str) -> str:
    os.kill(os.getpid(), int(order))
    return "alive"


def leave(order: str) -> str:
    os._exit(7)


def refuse(order: str) -> str:
    raise SubmissionError(order)


def complain(order: str) -> str:
    raise UsageError(order)


def blunder(order: str) -> str:
    raise ZeroDivisionError(order)


def open_many(order: str) -> str:
    return str(len([os.open(os.devnull, os.O_RDONLY) for _ in range(200)]))


def test_text_goes_in_and_out():
    assert run_apart(echo, "股权桥") == "桥权股"


def test_a_private_folder_may_be_written():
    assert run_apart(write_private, "draft") == "draft"


@pytest.mark.parametrize(
    ("work", "says"),
    [
        (spin, "it took longer than 2 s"),
        (sleep, "it took longer than 2 s"),
        (hoard, "it needed more than 400 MiB of memory"),
        (scribble, "it wrote more than 1 MiB"),
    ],
)
def test_an_overrun_is_told_by_its_limit(work, says):
    with pytest.raises(WorkerLostError) as caught:
        run_apart(work, "", SHORT)
    assert str(caught.value) == says
    assert caught.value.killed_by is None


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV])
def test_a_worker_that_is_ended_from_outside_names_the_signal(number):
    with pytest.raises(WorkerLostError, match=signal.Signals(number).name) as caught:
        run_apart(die, str(int(number)), SHORT)
    assert caught.value.killed_by == number


def test_errors_keep_their_kind_and_text():
    with pytest.raises(SubmissionError, match=r"^damaged$"):
        run_apart(refuse, "damaged")
    with pytest.raises(UsageError, match=r"^no such rubric$"):
        run_apart(complain, "no such rubric")
    with pytest.raises(WorkerBrokeError, match=r"^ZeroDivisionError: by nought$"):
        run_apart(blunder, "by nought")
    with pytest.raises(WorkerBrokeError, match=r"^a worker process ended with code 7 and no answer$"):
        run_apart(leave, "")


def test_a_caller_whose_main_module_is_standard_input_is_served():
    code = "from xlcheck.isolation import run_apart\nprint(run_apart(str, 'x'))"
    ran = subprocess.run([sys.executable, "-"], input=code, capture_output=True, text=True, check=False)
    assert (ran.stdout, ran.stderr) == ("x\n", "")


def test_nothing_outside_may_be_written_or_removed(tmp_path):
    kept = tmp_path / "submission.xlsx"
    kept.write_text("theirs")
    for work in (write_to, remove):
        with pytest.raises(WorkerBrokeError, match="PermissionError"):
            run_apart(work, str(kept))
    with pytest.raises(WorkerBrokeError, match="PermissionError"):
        run_apart(write_to, str(tmp_path / "new.txt"))
    assert kept.read_text() == "theirs"
    assert [path.name for path in tmp_path.iterdir()] == ["submission.xlsx"]


def test_no_network_and_no_programs():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        with pytest.raises(WorkerBrokeError, match="PermissionError"):
            run_apart(connect, str(listener.getsockname()[1]))
    with pytest.raises(WorkerBrokeError, match="PermissionError"):
        run_apart(launch, "")


def test_files_that_may_be_open_at_once_are_limited():
    with pytest.raises(WorkerBrokeError, match="OSError"):
        run_apart(open_many, "", SHORT)


def test_limits_hold_for_the_worker_only_and_threads_may_share_the_server():
    before = len(list(Path(tempfile.gettempdir()).iterdir()))
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda number: run_apart(echo, str(number)), range(12)))
    assert answers == [str(number)[::-1] for number in range(12)]
    assert len(bytearray(450 << 20)) == 450 << 20
    assert len(list(Path(tempfile.gettempdir()).iterdir())) <= before + 2


# -- the command line ----------------------------------------------------------------------------------------------

MODEL = Path(__file__).parents[1] / "fixtures" / "sic-epitaxy-dcf" / "reference" / "model.xlsx"


def command(*arguments: object) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "xlcheck.cli", *(str(argument) for argument in arguments)]
    return subprocess.run(line, capture_output=True, text=True, check=False)


def test_command_line_opens_a_workbook_in_a_limited_process():
    ended = command("recalc", MODEL, "--max-memory", 56)
    assert ended.returncode == 3
    assert ended.stderr == (
        f"xlcheck: {MODEL}: it needed more than 56 MiB of memory (--max-seconds and --max-memory allow more)\n"
    )


def test_command_line_may_write_where_it_was_told_to(tmp_path):
    ended = command("roles", MODEL, "--write-binding", tmp_path / "roles.yaml")
    assert (ended.returncode, ended.stderr) == (0, "")
    assert (tmp_path / "roles.yaml").read_text()
    ended = command("grade", MODEL, "--rubric", "sic-epitaxy-dcf", "--out", tmp_path / "new" / "report")
    assert (ended.returncode, ended.stderr) == (0, "")
    assert (tmp_path / "new" / "report" / "report.html").exists()
