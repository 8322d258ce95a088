"""Splits of a study in several processes."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pickle
import signal
import sys
import traceback
from collections.abc import Generator, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.connection import Connection
from threading import Thread
from typing import Any, TypeAlias

import attrs

from plausibly import registry
from plausibly.errors import InputError, listed
from plausibly.evaluation.design import Design, Outcome
from plausibly.protocols import KINDS
from plausibly.registry.entries import THIS_RUN, Entry, reason_of

_DESIGN: list[Design | InputError] = []  # in a process of the pool: the study that it works on


def outcomes(
    design: Design, numbers: Sequence[int], processes: int
) -> Generator[Outcome, None, None]:
    """Yield the outcome of each split when it is finished, or raise the error of the first one."""
    workers = min(processes, len(numbers))
    if workers < 2:
        yield from map(design.run, numbers)
        return
    parcel = _packed(design)
    # Not forked: threads of this process, such as a progress bar, would leave locks behind.
    context = multiprocessing.get_context("spawn")
    ending, alive = context.Pipe(duplex=False)
    pool = ProcessPoolExecutor(workers, context, _prepare, (ending, parcel))
    before, started = multiprocessing.active_children(), []
    try:
        with _uninterrupted():
            futures = [pool.submit(_run, number) for number in numbers]
        started = [child for child in multiprocessing.active_children() if child not in before]
        for finished in as_completed(futures):
            if not isinstance(finished.result(), Outcome):
                for future in futures:  # every earlier split has been started
                    _outcome(future.result())
            yield _outcome(finished.result())
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
            source="processes",
        ) from reason
    finally:
        alive.close()  # ends the processes, also in the middle of a split
        pool.shutdown(cancel_futures=True)


@contextlib.contextmanager
def _uninterrupted() -> Iterator[None]:
    """Start processes that Ctrl-C does not reach: this one ends them."""
    if not hasattr(signal, "pthread_sigmask"):  # not on Windows; see `_prepare`
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _prepare(ending: Connection, parcel: _Parcel) -> None:
    """Make a process of the pool ready for splits, until the other end of the pipe is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.stdout = sys.stderr  # results are printed by the process of the study

    def end() -> None:
        with contextlib.suppress(EOFError, OSError):
            ending.recv()
        os._exit(1)

    Thread(target=end, daemon=True).start()
    try:
        _DESIGN.append(_unpacked(parcel))
    except InputError as error:
        _DESIGN.append(error)


_Ran: TypeAlias = Outcome | tuple[Exception, str]
"""The outcome of a split, or an error that can be sent, and its trace."""


def _run(number: int) -> _Ran:
    design = _DESIGN[0]
    if isinstance(design, InputError):
        return design, ""
    try:
        return design.run(number)
    except Exception as error:  # noqa: BLE001  # it is raised in the process of the study
        trace = traceback.format_exc()
        # The trace shows what led to it, which may be an error that cannot be sent.
        error.__cause__ = error.__context__ = None
        try:
            pickle.loads(pickle.dumps(error))
        except Exception:  # noqa: BLE001  # any reason that keeps an error from being sent
            return RuntimeError(reason_of(error)), trace
        return error, trace


def _outcome(ran: _Ran) -> Outcome:
    if isinstance(ran, Outcome):
        return ran
    error, trace = ran
    error.add_note(f"in another process:\n{trace}")
    raise error


_Parcel: TypeAlias = tuple[bytes, Mapping[str, bytes], Sequence[bytes]]
"""A design without methods, these by name, so that one that cannot be sent has it, and entries."""


def _packed(design: Design) -> _Parcel:
    methods, registered = {}, []
    for name, method in design.methods.items():
        with _sent(name):
            methods[name] = pickle.dumps(method)
    for entry in registry.default().entries():
        # One that cannot be sent is either not used, or has its message above.
        with contextlib.suppress(Exception):
            if entry.source.plugin == THIS_RUN:
                registered.append(pickle.dumps(entry))
    return pickle.dumps(attrs.evolve(design, methods={})), methods, registered


def _unpacked(parcel: _Parcel) -> Design:
    without, packed, registered = parcel
    kinds: dict[str, Any] = {kind.name: kind for kind in KINDS}  # Any: each has its own Protocol
    for pickled in registered:
        with contextlib.suppress(Exception):  # as above
            entry: Entry = pickle.loads(pickled)
            registry.register(kinds[entry.kind], entry.name, entry.target, summary=entry.summary)
    methods = {}
    for name, method in packed.items():
        with _sent(name):
            methods[name] = pickle.loads(method)
    design: Design = pickle.loads(without)
    return attrs.evolve(design, methods=methods)


@contextlib.contextmanager
def _sent(name: str) -> Iterator[None]:
    """Raise an error with the reason where a method cannot be sent to another process, or read."""
    try:
        yield
    except Exception as error:  # a class of a user may raise anything
        raise InputError(
            "method-unsent",
            f'method "{name}" cannot be sent to another process',
            expected="components whose classes a module has, by name",
            found=" ".join(str(error).split()) or type(error).__name__,
            hint="put the class into a module (a file of its own), or processes=1",
            source=name,
        ) from error
