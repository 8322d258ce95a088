"""Studies: several methods on the same random splits."""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
import pickle
import signal
import sys
import traceback
from collections import deque
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing
from importlib.metadata import version
from multiprocessing.connection import Connection, wait
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any, TypeAlias

import attrs
import numpy as np
import xarray as xr

from plausibly import registry
from plausibly.calibration.alphas import Alphas, read_alphas
from plausibly.data import names
from plausibly.data.names import name_texts
from plausibly.data.validate import Predictions
from plausibly.errors import InputError, listed
from plausibly.evaluation import inputs
from plausibly.evaluation.checkpoint import Checkpoint
from plausibly.evaluation.design import (
    Design,
    Methods,
    Outcome,
    Said,
    listening,
    read_methods,
    repeat,
)
from plausibly.evaluation.results import DRAWS, METHOD, SIZE, SPLIT, Study, assembled
from plausibly.evaluation.splits import Values, check_share, check_strata, is_whole
from plausibly.kernels.coverage import Ties
from plausibly.progress import Progress, Tick, ticking
from plausibly.protocols import KINDS
from plausibly.registry.entries import THIS_RUN, Entry, reason_of

if TYPE_CHECKING:
    from multiprocessing.process import BaseProcess


_WHAT = {
    "splits": "a study of {} splits",
    "processes": "a study in {} processes",
    "draws": "draws {} of a study",
    "sizes": "calibration sizes {} of a study",
}


def _out_of_range(name: str, given: object, *, expected: str, got: str, do: str) -> InputError:
    what = _WHAT[name].format(repr(given))
    return InputError(f"{name}-range", what, expected=expected, got=got, do=do)


def check_count(name: str, value: object, *, do: str) -> None:
    """Raise `InputError` ``splits-range`` or ``processes-range`` unless it is a count."""
    if not is_whole(value):
        expected = "a whole number from 1 on"
        raise _out_of_range(name, value, expected=expected, got=repr(value), do=do)


def read_numbers(name: str, given: int | Sequence[int] | None) -> tuple[int, ...] | None:
    """Return one number or several, each once."""
    if given is None:
        return None
    alone = np.ndim(given) == 0  # a text too
    numbers: list[object] = [given] if alone else list(given)  # type: ignore[arg-type]  # as ndim says
    wrong = [value for value in numbers if not is_whole(value)]
    if wrong or not numbers:
        do = f"{name}=[1, 5, 10]" if name == "draws" else f"{name}=[50, 100, 200]"
        got = listed(map(repr, wrong)) or "none"
        raise _out_of_range(name, given, expected="whole numbers from 1 on", got=got, do=do)
    found = [int(value) for value in numbers if isinstance(value, int | np.integer)]
    twice = sorted({value for value in found if found.count(value) > 1})
    if twice:
        do = f"{name}={list(dict.fromkeys(found))}"
        got = f"{listed(twice)} more than once"
        raise _out_of_range(name, given, expected="each number once", got=got, do=do)
    return tuple(found)


def strata_of(stratify: str | xr.DataArray, arrays: Sequence[xr.DataArray]) -> Values:
    if isinstance(stratify, str):
        return inputs.example_values(stratify, arrays)
    examples = arrays[0][names.EXAMPLE].values
    places = inputs.places_of(
        stratify,
        examples,
        "stratify-malformed",
        "the strata",
        expected="the name of a coordinate, or a DataArray over example",
        do='stratify="COLUMN" of an example table, or plausibilities.idxmax("label")',
        whose="stratify",
    )
    if (places < 0).any():
        raise inputs.without(
            "stratify-missing",
            "stratum",
            examples[places < 0],
            len(examples),
            expected="a value for each example of the predictions",
            whose="stratify",
        )
    values = stratify.isel({names.EXAMPLE: places}).values
    whole = arrays[0].assign_coords(stratify=(names.EXAMPLE, values))
    return inputs.example_values("stratify", (whole,))


def outcomes(
    design: Design, numbers: Sequence[int], processes: int
) -> Generator[Outcome, None, None]:
    if min(processes, len(numbers)) < 2:
        yield from map(design.run, numbers)
        return
    parcel = _packed(design)
    workers: list[_Worker] = []
    try:
        for _ in range(min(processes, len(numbers))):
            workers.append(_Worker.started())
        # The first is ready to read about when the last was started.
        for worker in workers:
            worker.send(parcel)
        yield from _handed_out(workers, deque(numbers))
    finally:
        for worker in workers:
            worker.end()


def _handed_out(workers: Sequence[_Worker], left: deque[int]) -> Iterator[Outcome]:
    """Yield the outcomes of splits that are handed to whoever has none."""
    busy: dict[Connection, _Worker] = {}
    failed: dict[int, BaseException] = {}
    for worker in workers:
        worker.send(left.popleft())
        busy[worker.connection] = worker
    while busy:
        for ready in wait(list(busy)):
            worker = busy[ready]  # type: ignore[index]  # those that were handed in
            number, found = worker.receive()
            if isinstance(found, BaseException):
                # Splits that come later than one that failed have nothing to add.
                failed[number] = found
                left.clear()
            if left:
                worker.send(left.popleft())
            else:
                del busy[worker.connection]
            if isinstance(found, Outcome) and not failed:
                yield found
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
    """Work on splits until nobody asks for another one."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.stdout = sys.stderr  # results are printed by the process that asks
    Thread(target=_end_with_parent, daemon=True).start()
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


def _end_with_parent() -> None:
    """End this process when the one that asks is gone, in the middle of a split too."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


def _tried(design: Design | InputError, number: int) -> tuple[object, str]:
    """Return the outcome of a split or what went wrong, such that it can be sent, and where."""
    if isinstance(design, InputError):
        return design, ""
    try:
        found = design.run(number)
        return attrs.evolve(found, said=tuple(one.portable() for one in found.said)), ""
    except Exception as error:  # noqa: BLE001  # it is raised where the study was asked for
        trace = traceback.format_exc()
        # The trace tells of what led to it, which may be an error that cannot be sent.
        error.__cause__ = error.__context__ = None
        try:
            pickle.loads(pickle.dumps(error))
        except Exception:  # noqa: BLE001  # whatever keeps somebody's error from being sent
            return RuntimeError(reason_of(error)), trace
        return error, trace


# ---- what a process is sent: pickled here and read at once, never kept


_Parcel: TypeAlias = tuple[bytes, Mapping[str, bytes], Sequence[bytes]]
"""A design without methods, these by name, so that one that cannot be sent has it, and entries."""


def _packed(design: Design) -> _Parcel:
    methods: dict[str, bytes] = {}
    for name, method in design.methods.items():
        with _sent(name):
            methods[name] = pickle.dumps(method)
    registered: list[bytes] = []
    for entry in registry.default().entries():
        if entry.source.plugin == THIS_RUN:
            # One that cannot be sent is either not used, or is told of above.
            with contextlib.suppress(Exception):
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
    except Exception as error:  # somebody's class may raise anything
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


__all__ = ["DRAWS", "METHOD", "SIZE", "SPLIT", "Progress", "compare"]


def compare(
    predictions: xr.DataArray,
    plausibilities: xr.DataArray | xr.Dataset,
    methods: Methods,
    *,
    alphas: Alphas = (0.1,),
    splits: int = 100,
    test: float = 0.5,
    group: str | None = None,
    stratify: str | xr.DataArray | None = None,
    draws: int | Sequence[int] | None = None,
    sizes: int | Sequence[int] | None = None,
    seed: int = 0,
    ties: Ties = "first",
    true: str | xr.DataArray | None = None,
    processes: int = 1,
    checkpoint: str | Path | Checkpoint | None = None,
    progress: Progress | None = None,
) -> Study:
    """Calibrate several methods on random splits, and measure each on the rest.

    Parameters
    ----------
    predictions : DataArray, ([augmentation,] example, label)
        Of a model that saw none of these examples, or not those of the fold that it predicts.
        Several augmentations are for the calibrator ``augmentation``; where it pools them, a test
        example is seen in a random one of its own.
    plausibilities : DataArray or Dataset, (example, label)
        Plausibilities, dense or packed, or an annotation table, which is aggregated by the default
        of its kind. Aligned with the predictions by name.
    methods : mapping of str to mapping, or sequence of mapping or str
        Arguments of `calibrate` (``calibrator``, ``score``, ``combiner``, ``draws``,
        ``allow_no_guarantee``) by the name of the method, or in a list, named after their
        components or by a ``name``.
    alphas : number or text, or a sequence of them
        Miscoverage rates.
    splits : int
        How many; the first ones do not depend on it.
    test : float
        Share of the examples to measure on; the others calibrate.
    group : str, optional
        Coordinate of the examples whose groups stay on one side, such as the patient; held-out
        parts of the calibration follow it too.
    stratify : str or DataArray, (example,), optional
        Coordinate of the examples, or values by name, such as the voted label
        ``plausibilities.idxmax("label")``: every value has the share `test` of its examples on the
        test side, but for one example. With `group`, each of whose groups has one value, as far as
        whole groups allow.
    draws : int or sequence of int, optional
        Numbers of draws, along a dim ``draws``: in the place of the parameter ``draws`` of each
        calibrator that has one, also inside another. Methods without one are calibrated once, and
        are the same along it: see the coordinate ``uses_draws``.
    sizes : int or sequence of int, optional
        Numbers of calibration examples, along a dim ``size``: subsets of the calibration side, by
        the keys of their names, each of which is part of every larger one; whole groups, as long as
        they fit, where there are any. The test examples are the same for all sizes.
    seed : int
        Every split draws from a stream of its own.
    ties : {"first", "random", "fractional", "any", "all"}
        See `evaluate`.
    true : str or DataArray, (example,), optional
        Known labels, see `evaluate`; they calibrate nothing.
    processes : int
        How many splits to work on at a time, each in a process of its own. The result is the same.
        A script must then call this below ``if __name__ == "__main__":``.
    checkpoint : str or Path, optional
        A folder where each finished split is kept. The same study, or one of more splits, goes on
        from there, also after it was killed; any other study is refused.
    progress : bool or callable, optional
        True for a bar on a terminal or in a notebook, silent elsewhere. A function is called with
        the number of finished splits, and of all; first with those that `checkpoint` had, if any.

    Returns
    -------
    Study
        A Dataset, which notebooks show with its table.
        `aggregated_coverage`, `voted_coverage`, `set_size` and `share_empty`: means over the test
        examples of a split, (method, split, alpha[, draws][, size]), and `true_coverage` with
        `true`; with `group`, `group_coverage`, the mean over groups of the mean aggregated coverage
        within, which ``grouped`` is about; `vacuous`, whether every set is every label; `n_test`,
        (split,), and `n_calibration`, (split[, size]). Coordinates `guaranteed` (text) and
        `guaranteed_level` (NaN for none), (method, alpha[, draws][, size]): of
        `aggregated_coverage`. Attributes hold the settings, and the guarantees of the first split
        as JSON, with the most draws and the largest size.

        Select one method by ``study.sel({"method": name})``: as a keyword, ``method`` is how
        xarray's own ``sel`` fills gaps.

        The standard deviation over splits of one data set is a spread, not a standard error: the
        splits overlap.

    Raises
    ------
    InputError
        Where inputs are malformed or do not match, a split would leave a side empty, or has fewer
        calibration examples than `sizes` asks for; ``checkpoint-other`` where the folder is of
        another study; ``method-unsent`` where a component cannot be sent to other processes.

    Warns
    -----
    PlausiblyWarning
        What splits warn of, once, at the end.
    """
    asked = read_methods(methods)
    policy = inputs.check_ties(ties)
    check_share(test)
    check_count("splits", splits, do="splits=100")
    check_count("processes", processes, do="processes=2")
    numbers = read_numbers("draws", draws), read_numbers("sizes", sizes)
    model = Predictions.from_xarray(predictions).array
    model, lam = inputs.matched(model, inputs.as_plausibilities(plausibilities))
    labels = name_texts(model[names.LABEL].values)
    model, groups = inputs.with_groups(model, group, lam)
    stratum = stratify if isinstance(stratify, str) else "stratify"
    strata = None if stratify is None else strata_of(stratify, (model, lam))
    if groups is not None and strata is not None:
        check_strata(groups, strata, group=str(group), stratify=stratum)

    said: list[Said] = []
    with listening(said):
        exact = read_alphas(alphas)
        made = {name: method.made() for name, method in asked.items()}
    given = inputs.as_typed(alphas)
    design = Design(
        predictions=model,
        plausibilities=lam,
        methods=made,
        alphas=given,
        test=test,
        group=group,
        groups=groups,
        strata=strata,
        seed=seed,
        ties=policy,
        true=None if true is None else inputs.true_codes(true, (model, lam), labels),
        draws=numbers[0],
        sizes=numbers[1],
    )
    with ticking(progress, "comparing methods") as tick:
        found = _run(design, splits, processes, checkpoint, tick)
    said += [one for outcome in found for one in outcome.said]
    repeat(said, splits, sizes=design.sizes or (), draws=design.draws or ())
    facts: dict[str, object] = {
        "n": model.sizes[names.EXAMPLE],
        "labels": len(labels),
        "seed": seed,
        "test": float(test),
        "ties": policy,
        "alphas": json.dumps([str(alpha) for alpha in given]),
        "methods": json.dumps({name: method.table() for name, method in asked.items()}),
        "guarantees": json.dumps(found[0].guarantees),
        "version": version("plausibly"),
    }
    if groups is not None:
        facts |= {"group": group, "groups": len(np.unique(groups))}
    if strata is not None:
        facts |= {"stratify": stratum, "strata": len(np.unique(strata))}
    return assembled(design, found, [float(alpha) for alpha in exact]).assign_attrs(facts)


def _run(
    design: Design,
    splits: int,
    processes: int,
    checkpoint: str | Path | Checkpoint | None,
    progress: Tick,
) -> list[Outcome]:
    """Return what the splits give, in their order, whatever the order in which they end."""
    store = Checkpoint.of(checkpoint)
    found = {} if store is None else store.open(design, splits)
    if found:
        progress(len(found), splits)
    left = [number for number in range(splits) if number not in found]
    with closing(outcomes(design, left, processes)) as finished:
        for outcome in finished:
            if store is not None:
                store.keep(outcome)
            found[outcome.number] = outcome
            progress(len(found), splits)
    return [found[number] for number in range(splits)]
