"""Work on a stranger's file in a process of its own: what it costs is limited, what it breaks is its own.

The worker is forked from a small server that has the modules loaded already, so that a start costs milliseconds.
It answers with text over a pipe; nothing it sends is unpickled. Its limits stand in ``confinement.py``.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from multiprocessing.context import BaseContext
from multiprocessing.process import BaseProcess
from types import ModuleType

from xlcheck.confinement import DEFAULT_ALLOWANCE, Allowance, at_the_limit, confine, lost
from xlcheck.errors import SubmissionError, UsageError, WorkerBrokeError, WorkerLostError, XlcheckError

PRELOADED = ["xlcheck.pipeline", "xlcheck.isolation", "xlcheck.quotes", "xlcheck.verdicts", "xlcheck.scoring.model"]
_GRACE = 5.0
_LARGEST_ANSWER = 256 << 20
_STARTING = threading.Lock()


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
            with _STARTING, _unnamed_main():
                worker.start()
            there.close()
            try:
                return _read(_answer(here, worker, allowance))
            finally:
                _end(worker)


@contextmanager
def _unnamed_main() -> Iterator[None]:
    """Hide the caller's main module, which every worker would run again: it may be long, or standard input."""
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


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
    if worker.exitcode is not None and worker.exitcode >= 0:
        raise WorkerBrokeError(f"a worker process ended with code {worker.exitcode} and no answer")
    raise lost(worker.exitcode, allowance)


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
        if at_the_limit(allowance, error):
            return "lost", f"it needed more than {allowance.memory_mib} MiB of memory"
        return "broke", f"{type(error).__name__}: {error}"
