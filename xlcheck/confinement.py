"""Limits that a process puts on itself for good, and the death of one that met them.

The kernel's own (``setrlimit``, ``alarm``) come first, so that native code cannot ignore them; what the kernel has no
limit for is refused by an audit hook, which nothing can take away again.
"""

from __future__ import annotations

import os
import signal
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from xlcheck.errors import WorkerLostError

MEBIBYTE = 1 << 20
_NEARLY = 0.75


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


def run_limited(work: Callable[[], int], allowance: Allowance, writable: tuple[str, ...]) -> int:
    """Run ``work()`` in a forked process under limits and return its exit code, 0 to 255.

    It shares standard output and error with the caller; of the disk it may write `writable` and a folder for
    temporary files only. Raises `WorkerLostError` where it met a limit or died. Where a process cannot be forked
    (Windows) the work runs here, without limits. Must not be called with other threads running.
    """
    if not hasattr(os, "fork"):
        return work()
    with tempfile.TemporaryDirectory(prefix="xlcheck-", ignore_cleanup_errors=True) as folder:
        sys.stdout.flush()
        child = os.fork()
        if child == 0:
            os._exit(_child(work, allowance, (folder, *writable)))
        code = os.waitstatus_to_exitcode(_wait(child))
    if code < 0:
        raise lost(code, allowance)
    return code


def _child(work: Callable[[], int], allowance: Allowance, writable: tuple[str, ...]) -> int:
    if not os.environ.get("XLCHECK_TRACEBACK"):
        _quieten_native_code()
    confine(allowance, writable)
    try:
        code = work()
        sys.stdout.flush()
    except SystemExit as leave:
        return leave.code if isinstance(leave.code, int) else 2
    return code


def _quieten_native_code() -> None:
    """Keep from the terminal what native code prints before it gives up; our own sentences still go there."""
    sys.stderr.flush()
    ours = os.fdopen(os.dup(2), "w", buffering=1, encoding=sys.stderr.encoding, errors="backslashreplace")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    sys.stderr = ours


def _wait(child: int) -> int:
    while True:
        try:
            return os.waitpid(child, 0)[1]
        except KeyboardInterrupt:  # the child has got it too, and ends by itself
            continue


def lost(exit_code: int | None, allowance: Allowance) -> WorkerLostError:
    """Return why a worker ended with this code of `multiprocessing` (minus the signal; None: it had to be ended)."""
    if exit_code is None or -exit_code in (signal.SIGALRM, signal.SIGXCPU):
        return WorkerLostError(f"it took longer than {allowance.seconds} s")
    if exit_code == -signal.SIGXFSZ:
        return WorkerLostError(f"it wrote more than {allowance.written_mib} MiB")
    if exit_code == -signal.SIGABRT:  # native code aborts where it gets no memory
        return WorkerLostError(f"it needed more than {allowance.memory_mib} MiB of memory, or broke an engine")
    return WorkerLostError(f"its worker process was ended by {signal.Signals(-exit_code).name}", -exit_code)


def at_the_limit(allowance: Allowance, error: BaseException) -> bool:
    """Tell whether an error came of memory run short: libraries dress that up in errors of their own."""
    if isinstance(error, MemoryError):
        return True
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

    for what, most, spare in (
        (resource.RLIMIT_AS, allowance.memory_mib * MEBIBYTE, 0),
        (resource.RLIMIT_CPU, allowance.seconds, 1),  # SIGXCPU a second before SIGKILL, to be told apart from others'
        (resource.RLIMIT_FSIZE, allowance.written_mib * MEBIBYTE, 0),
        (resource.RLIMIT_NOFILE, allowance.open_files, 0),
        (resource.RLIMIT_CORE, 0, 0),
    ):
        before = resource.getrlimit(what)[1]
        hard = most + spare if before == resource.RLIM_INFINITY else min(most + spare, before)
        resource.setrlimit(what, (min(most, hard), hard))
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
        if isinstance(place, (str, bytes)) and not _within(os.fsdecode(place), allowed, event):
            raise PermissionError(f"a workbook's worker may not write {os.fsdecode(place)}")


def _within(place: str, allowed: tuple[str, ...], event: str) -> bool:
    full = os.path.realpath(place)
    leads_there = event == "os.mkdir" and any(root.startswith(full + os.sep) for root in allowed)
    return leads_there or any(full == root or full.startswith(root + os.sep) for root in allowed)
