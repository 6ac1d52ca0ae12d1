"""Work on a stranger's file in a process of its own: what it costs is limited, what it breaks is its own.

The worker is forked from a small server that has the modules loaded already, so that a start costs milliseconds.
It answers with text over a pipe; nothing it sends is unpickled. Limits are the kernel's (``setrlimit``, ``alarm``),
so that native code cannot ignore them; what the kernel has no limit for is refused by an audit hook.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import sys
import tempfile
import threading
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.context import BaseContext
from multiprocessing.process import BaseProcess
from pathlib import Path

from xlcheck.errors import SubmissionError, UsageError, WorkerBrokeError, WorkerLostError, XlcheckError

MEBIBYTE = 1 << 20
PRELOADED = ["xlcheck.pipeline", "xlcheck.isolation", "xlcheck.quotes", "xlcheck.verdicts", "xlcheck.scoring.model"]
_GRACE = 5.0
_NEARLY = 0.9
_LARGEST_ANSWER = 256 * MEBIBYTE
_STARTING = threading.Lock()


@dataclass(frozen=True, slots=True)
class Allowance:
    """What one workbook may cost."""

    seconds: int = 60
    """Wall time, and processor time too."""
    memory_mib: int = 2048
    """Address space of the worker, in MiB (1,048,576 bytes)."""
    written_mib: int = 256
    """Largest file that the worker may write, in its private folder."""
    open_files: int = 256


DEFAULT_ALLOWANCE = Allowance()


def run_apart(work: Callable[[str], str], order: str, allowance: Allowance = DEFAULT_ALLOWANCE) -> str:
    """Run ``work(order)`` in a worker process and return its text; safe to call from several threads.

    `work` must be importable by name. Raises what `work` raises of `XlcheckError` (as `UsageError` or
    `SubmissionError`, with its text), `WorkerLostError` where a limit was met or the worker died,
    `WorkerBrokeError` for any other exception.
    """
    context = _server()
    with tempfile.TemporaryDirectory(prefix="xlcheck-", ignore_cleanup_errors=True) as folder:
        here, there = context.Pipe(duplex=False)
        with here:
            worker = context.Process(  # type: ignore[attr-defined]  # every start method has one
                target=_worker, args=(there, work, order, allowance, folder), daemon=True
            )
            with _STARTING:
                worker.start()
            there.close()
            try:
                return _read(_answer(here, worker, allowance))
            finally:
                _end(worker)


def _server() -> BaseContext:
    method = "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"
    context = multiprocessing.get_context(method)
    context.set_forkserver_preload(PRELOADED)
    return context


def _answer(pipe: Connection, worker: BaseProcess, allowance: Allowance) -> bytes:
    try:
        if pipe.poll(allowance.seconds + _GRACE):
            return pipe.recv_bytes(_LARGEST_ANSWER)
    except (EOFError, OSError):
        pass
    worker.join(_GRACE)
    raise _lost(worker.exitcode, allowance)


def _lost(exit_code: int | None, allowance: Allowance) -> WorkerLostError:
    if exit_code is None or -exit_code in (signal.SIGALRM, signal.SIGXCPU):
        return WorkerLostError(f"it took longer than {allowance.seconds} s")
    if exit_code == -signal.SIGXFSZ:
        return WorkerLostError(f"it wrote more than {allowance.written_mib} MiB")
    if exit_code == -signal.SIGABRT:  # native code aborts where it gets no memory
        return WorkerLostError(f"it needed more than {allowance.memory_mib} MiB of memory, or broke an engine")
    if exit_code < 0:
        return WorkerLostError(f"its worker process was ended by {signal.Signals(-exit_code).name}", -exit_code)
    return WorkerLostError(f"its worker process ended with code {exit_code} and no answer")


def _end(worker: BaseProcess) -> None:
    if worker.is_alive():
        worker.kill()
    worker.join()
    worker.close()


def _read(answer: bytes) -> str:
    told = json.loads(answer)
    kind, text = str(told["kind"]), str(told["text"])
    if kind == "done":
        return text
    raise {"usage": UsageError, "submission": SubmissionError, "lost": WorkerLostError}.get(kind, WorkerBrokeError)(
        text
    )


# -- inside the worker ---------------------------------------------------------------------------------------------


def _worker(pipe: Connection, work: Callable[[str], str], order: str, allowance: Allowance, folder: str) -> None:
    os.setsid()
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # native code complains there before it aborts
    kind, text = _outcome(work, order, allowance, folder)
    pipe.send_bytes(json.dumps({"kind": kind, "text": text}).encode())
    pipe.close()
    os._exit(0)  # nothing that the work left behind may run any more


def _outcome(work: Callable[[str], str], order: str, allowance: Allowance, folder: str) -> tuple[str, str]:
    try:
        confine(allowance, (folder,))
        return "done", work(order)
    except UsageError as error:
        return "usage", str(error)
    except XlcheckError as error:
        return ("submission" if isinstance(error, SubmissionError) else "broke"), str(error)
    except BaseException as error:  # noqa: BLE001 - whatever it is, the parent is told
        if isinstance(error, MemoryError) or _at_the_limit(allowance):
            return "lost", f"it needed more than {allowance.memory_mib} MiB of memory"
        return "broke", f"{type(error).__name__}: {error}"


def _at_the_limit(allowance: Allowance) -> bool:
    """Tell whether memory ran short: libraries dress that up in errors of their own."""
    try:
        told = Path("/proc/self/status").read_text(encoding="ascii")
        peak_kib = int(told.split("VmPeak:")[1].split()[0])
    except (OSError, IndexError, ValueError, MemoryError):
        return False
    return peak_kib > allowance.memory_mib * 1024 * _NEARLY


def confine(allowance: Allowance, writable: tuple[str, ...]) -> None:
    """Limit this process for good: time, memory, files, network, and where it may write.

    `writable` are the folders and files it may write; the first is its folder for temporary files. Where the
    platform has no such limit (Windows), only the audit hook is left.
    """
    if sys.platform != "win32":
        _kernel_limits(allowance)
        _leave_network()
    os.environ["TMPDIR"] = tempfile.tempdir = writable[0]
    allowed = tuple(str(Path(place).resolve()) for place in (*writable, os.devnull))
    sys.addaudithook(lambda event, args: _refuse(event, args, allowed))


def _kernel_limits(allowance: Allowance) -> None:
    import resource

    for what, most in (
        (resource.RLIMIT_AS, allowance.memory_mib * MEBIBYTE),
        (resource.RLIMIT_CPU, allowance.seconds),
        (resource.RLIMIT_FSIZE, allowance.written_mib * MEBIBYTE),
        (resource.RLIMIT_NOFILE, allowance.open_files),
        (resource.RLIMIT_CORE, 0),
    ):
        hard = resource.getrlimit(what)[1]
        least = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(what, (least, least))
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(allowance.seconds)


def _leave_network() -> None:
    """Enter a network namespace of our own, in which not even loopback is up; where forbidden, the hook remains."""
    import ctypes

    new_user, new_network = 0x10000000, 0x40000000  # CLONE_NEWUSER, CLONE_NEWNET of <sched.h>
    unshare = getattr(ctypes.CDLL(None), "unshare", None)
    if unshare is not None and unshare(new_network) != 0:
        unshare(new_user | new_network)


_FORBIDDEN = ("socket.", "subprocess.", "os.system", "os.exec", "os.posix_spawn", "os.fork", "pty.", "webbrowser.")
_CHANGES = {"os.remove", "os.rename", "os.rmdir", "os.mkdir", "os.link", "os.symlink", "os.truncate", "os.chmod"}
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


def _refuse(event: str, args: tuple[object, ...], allowed: tuple[str, ...]) -> None:
    if event.startswith(_FORBIDDEN):
        raise PermissionError(f"a workbook's worker may not do {event}")
    if event in _CHANGES or (event == "open" and isinstance(args[2], int) and args[2] & _WRITES):
        place = args[0]
        if isinstance(place, (str, bytes)) and not _within(os.fsdecode(place), allowed):
            raise PermissionError(f"a workbook's worker may not write {os.fsdecode(place)}")


def _within(place: str, allowed: tuple[str, ...]) -> bool:
    full = os.path.realpath(place)
    return any(full == root or full.startswith(root + os.sep) for root in allowed)
