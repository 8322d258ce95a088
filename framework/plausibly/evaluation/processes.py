"""Splits of a study in several processes."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
from collections.abc import Generator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from threading import Thread

from plausibly.errors import InputError, listed
from plausibly.evaluation.design import Design, Outcome

_PARCEL: list[bytes] = []  # in a process of the pool: the study that it works on
_DESIGN: list[Design] = []  # the same, unpacked for the first split


def outcomes(
    design: Design, numbers: Sequence[int], processes: int
) -> Generator[Outcome, None, None]:
    """Yield the outcome of each split, in order."""
    workers = min(processes, len(numbers))
    if workers < 2:
        yield from map(design.run, numbers)
        return
    try:
        parcel = pickle.dumps(design)
    except Exception as error:  # a class of a user may raise anything
        raise _unsent(error) from error
    # Not forked: threads of this process, such as a progress bar, would leave locks behind.
    context = multiprocessing.get_context("spawn")
    before, started = multiprocessing.active_children(), []
    pool = ProcessPoolExecutor(workers, context, _prepare, (parcel,))
    try:
        results = pool.map(_run, numbers)
        started = [child for child in multiprocessing.active_children() if child not in before]
        yield from results
    except BrokenProcessPool as reason:
        pool.shutdown()
        # The pool terminates the processes that are left.
        codes = {child.exitcode for child in started} - {None, -signal.SIGTERM}
        raise InputError(
            "process-ended",
            "a process of the study ended before its split was finished",
            expected="processes that live as long as the study",
            found=f"exit code {listed(codes)}" if codes else "a broken pipe",
            hint='in a script, call compare below if __name__ == "__main__":; '
            "else processes=1 shows why",
        ) from reason
    finally:
        for child in started:
            child.terminate()  # also in the middle of a split
        pool.shutdown(cancel_futures=True)


def _prepare(parcel: bytes) -> None:
    """Make a process ready for splits; it ends with the process of the study, not by Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()

    def end() -> None:
        if parent is not None:
            parent.join()
        os._exit(1)

    Thread(target=end, daemon=True).start()
    _PARCEL.append(parcel)


def _run(number: int) -> Outcome:
    if not _DESIGN:
        try:
            _DESIGN.append(pickle.loads(_PARCEL[0]))
        except Exception as error:  # as above: the module of a class may raise anything
            raise _unsent(error) from error
    return _DESIGN[0].run(number)


def _unsent(error: Exception) -> InputError:
    return InputError(
        "method-unsent",
        "a method of the study cannot be sent to another process",
        expected="components whose classes a module has, by name",
        found=" ".join(str(error).split()) or type(error).__name__,
        hint="put the class into a module (a file of its own), or processes=1",
    )
