"""Splits of a study in several processes, each with a pipe of its own."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pickle
import signal
import sys
import traceback
from collections import deque
from collections.abc import Generator, Iterator, Mapping, Sequence
from multiprocessing.connection import Connection, wait
from threading import Thread
from typing import TYPE_CHECKING, Any, TypeAlias

import attrs

from plausibly import registry
from plausibly.errors import InputError
from plausibly.evaluation.design import Design, Outcome
from plausibly.protocols import KINDS
from plausibly.registry.entries import THIS_RUN, Entry, reason_of

if TYPE_CHECKING:
    from multiprocessing.process import BaseProcess


def outcomes(
    design: Design, numbers: Sequence[int], processes: int
) -> Generator[Outcome, None, None]:
    if min(processes, len(numbers)) < 2:
        yield from map(design.run, numbers)
        return
    parcel = _packed(design)
    left = deque(numbers)
    workers: list[_Worker] = []
    failed: dict[int, BaseException] = {}
    try:
        for _ in range(min(processes, len(numbers))):
            workers.append(_Worker.started())
        # The first is ready to read about when the last was started.
        for worker in workers:
            worker.send(parcel)
            worker.send(left.popleft())
        busy: dict[object, _Worker] = {worker.connection: worker for worker in workers}
        while busy:
            for ready in wait([worker.connection for worker in busy.values()]):
                worker = busy[ready]
                number, found = worker.receive()
                if isinstance(found, BaseException):
                    # Splits that come later than one that failed have nothing to add.
                    failed[number] = found
                    left.clear()
                if left:
                    worker.send(left.popleft())
                else:
                    del busy[ready]
                if isinstance(found, Outcome) and not failed:
                    yield found
    finally:
        for worker in workers:
            worker.end()
    if failed:
        raise failed[min(failed)]


@attrs.frozen(kw_only=True, eq=False)
class _Worker:
    """A process that works on splits, and the pipe to it."""

    process: BaseProcess
    connection: Connection

    @classmethod
    def started(cls) -> _Worker:
        """Start a process that waits for a design, and ends when this one does."""
        # Not forked: threads of ours, such as that of a progress bar, would leave locks behind.
        context = multiprocessing.get_context("spawn")
        mine, other = context.Pipe()
        process = context.Process(target=_serve, args=(other,), daemon=True)
        with _uninterrupted():
            process.start()
        # Its own end is then the only one: when the process is gone, so is the pipe.
        other.close()
        return cls(process=process, connection=mine)

    def send(self, what: object) -> None:
        try:
            self.connection.send(what)
        except OSError as reason:
            raise _ended(self.process) from reason

    def receive(self) -> tuple[int, object]:
        """Return the number of a split, and its outcome or error."""
        try:
            number, found, trace = self.connection.recv()
        except (EOFError, OSError) as reason:
            raise _ended(self.process) from reason
        if isinstance(found, BaseException):
            found.add_note(f"in another process:\n{trace}")
        return number, found

    def end(self) -> None:
        self.process.terminate()
        self.process.join()
        self.connection.close()


@contextlib.contextmanager
def _uninterrupted() -> Iterator[None]:
    """Start processes that Ctrl-C does not reach: this one ends them."""
    if not hasattr(signal, "pthread_sigmask"):  # not on Windows; see `_serve`
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _serve(connection: Connection) -> None:
    """Work on splits until the pipe is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.stdout = sys.stderr  # results are printed by the process that asks

    def end_with_parent() -> None:
        """End this process when the one that asks is gone, in the middle of a split too."""
        parent = multiprocessing.parent_process()
        if parent is not None:
            wait([parent.sentinel])
            os._exit(1)

    Thread(target=end_with_parent, daemon=True).start()
    # A pipe that breaks means that the process that asks is gone.
    with contextlib.suppress(EOFError, OSError):
        design: Design | InputError
        try:
            design = _unpacked(connection.recv())
        except InputError as error:
            design = error
        while True:
            number = connection.recv()
            connection.send((number, *_tried(design, number)))


def _tried(design: Design | InputError, number: int) -> tuple[object, str]:
    """Return the outcome of a split or what went wrong, such that it can be sent, and where."""
    if isinstance(design, InputError):
        return design, ""
    try:
        found = design.run(number)
        return attrs.evolve(found, warnings=tuple(one.portable() for one in found.warnings)), ""
    except Exception as error:  # noqa: BLE001  # it is raised where the study was asked for
        trace = traceback.format_exc()
        # The trace tells of what led to it, which may be an error that cannot be sent.
        error.__cause__ = error.__context__ = None
        try:
            pickle.loads(pickle.dumps(error))
        except Exception:  # noqa: BLE001  # any reason that keeps an error from being sent
            return RuntimeError(reason_of(error)), trace
        return error, trace


_Parcel: TypeAlias = tuple[bytes, Mapping[str, bytes], Sequence[bytes]]
"""A design without methods, these by name, so that one that cannot be sent has it, and entries."""


def _packed(design: Design) -> _Parcel:
    methods, registered = {}, []
    for name, method in design.methods.items():
        with _sent(name):
            methods[name] = pickle.dumps(method)
    for entry in registry.default().entries():
        # One that cannot be sent is either not used, or is told of above.
        with contextlib.suppress(Exception):
            if entry.source.plugin == THIS_RUN:
                registered.append(pickle.dumps(entry))
    return pickle.dumps(attrs.evolve(design, methods={})), methods, registered


def _unpacked(parcel: _Parcel) -> Design:
    without, packed, registered = parcel
    kinds: dict[str, Any] = {kind.name: kind for kind in KINDS}  # Any: each has its own Protocol
    for one in registered:
        with contextlib.suppress(Exception):  # as above
            entry: Entry = pickle.loads(one)
            registry.register(kinds[entry.kind], entry.name, entry.target, summary=entry.summary)
    methods = {}
    for name, method in packed.items():
        with _sent(name):
            methods[name] = pickle.loads(method)
    design: Design = pickle.loads(without)
    return attrs.evolve(design, methods=methods)


@contextlib.contextmanager
def _sent(name: str) -> Iterator[None]:
    """Say what is wrong where a method cannot be sent, or not be read on the other side."""
    try:
        yield
    except Exception as error:  # a class of a user may raise anything
        raise InputError(
            "method-unsent",
            f'method "{name}" cannot be sent to another process',
            expected="components whose classes a module has, by name",
            got=" ".join(str(error).split()) or type(error).__name__,
            do="put the class into a module (a file of its own), or processes=1",
            whose=name,
        ) from error


def _ended(process: BaseProcess) -> InputError:
    process.join(timeout=1)
    code = process.exitcode
    return InputError(
        "process-ended",
        "a process of the study ended before its split was finished",
        expected="processes that live as long as the study",
        got=f"exit code {code}" if code is not None else "a broken pipe",
        do='in a script, call compare below if __name__ == "__main__":; else processes=1 shows why',
        whose="processes",
    )
