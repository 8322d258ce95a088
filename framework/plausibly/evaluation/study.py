"""Studies: several methods on the same random splits."""

from __future__ import annotations

import json
import math
import textwrap
from collections.abc import Sequence
from contextlib import closing
from importlib.metadata import version
from itertools import product
from pathlib import Path

import numpy as np
import xarray as xr

from plausibly.atomic import check_ours, holds, replacing
from plausibly.calibration.alphas import Alphas, read_alphas
from plausibly.data import names
from plausibly.data.names import name_texts, several
from plausibly.data.validate import Predictions
from plausibly.errors import InputError, counted, listed
from plausibly.evaluation import inputs
from plausibly.evaluation.checkpoint import Checkpoint
from plausibly.evaluation.design import (
    BY_GROUP,
    Design,
    Methods,
    Recorded,
    issue_again,
    per,
    read_methods,
    record_warnings,
)
from plausibly.evaluation.processes import outcomes
from plausibly.evaluation.result import (
    AGGREGATED,
    MOST_LINES,
    SET_SIZE,
    Result,
    decimal,
    each,
    number,
    planes,
    wrapped,
)
from plausibly.evaluation.splits import (
    check_count,
    check_option,
    check_strata,
    read_numbers,
)
from plausibly.io import arrays
from plausibly.kernels.coverage import TIES, Ties
from plausibly.progress import Progress, ticking
from plausibly.text import percent

METHOD, SPLIT, DRAWS, SIZE = "method", "split", "draws", "size"
TOLERATED = 0.01
_INT32 = range(-(2**31), 2**31)
_LETTERS = {SIZE: "n", DRAWS: "m"}
_NAME_WIDTH = 23


class Study(Result):
    """Several methods on the same random splits, from `plausibly.compare`: prints its table."""

    def save(self, path: str | Path) -> None:
        """Write the study as netCDF-3, whole or not at all.

        Parameters
        ----------
        path : str or Path
            netCDF-3 has no 64-bit integers: counts are stored in 32 bits, a longer seed as text.

        Raises
        ------
        InputError
            ``study-unknown`` where the numbers are not those of a study; ``output-occupied`` or
            ``output-unwritable``.
        """
        _check(self.data, "this Dataset")
        attributes = {
            name: str(value) if isinstance(value, int) and value not in _INT32 else value
            for name, value in self.attrs.items()
        }
        check_ours(path, is_study, "an older result of a study")
        with replacing(path) as part:
            whole = self.data.assign_attrs(attributes)
            whole.to_netcdf(part, engine="scipy", format="NETCDF3_64BIT")

    def to_json(self) -> dict[str, object]:
        results = [
            {
                "alpha": float(cell[names.ALPHA]),
                "method": name,
                "aggregated_coverage": float(cell[AGGREGATED].values.mean()),
                "spread": number(_spread(cell)),
                "majority_vote_coverage": float(cell["majority_vote_coverage"].mean()),
                "set_size": float(cell[SET_SIZE].mean()),
                "guaranteed": str(cell["guaranteed"].item()),
            }
            for plane in planes(self.data)
            for name, cell in cells(plane)
        ]
        return {**self.attrs, "splits": self.data.sizes[SPLIT], "results": results}

    def lines(self) -> list[str]:
        return [*self._tables(), *self._verdict()]

    def summary(self) -> list[str]:
        tables, verdict = self._tables(), self._verdict()
        room = MOST_LINES - len(verdict)
        if len(tables) > room:
            tables = [*tables[: room - 1], f"({len(tables) - room + 1} more: .lines())"]
        return [*tables, *verdict]

    def _tables(self) -> list[str]:
        known, alphas = self.data.attrs, planes(self.data)
        rates = [f"alpha {float(plane[names.ALPHA]):g}" for plane in alphas]
        examples = f" of {several(int(known['n']), 'example')}" if "n" in known else ""
        by = f" by {known['cluster']}" if "cluster" in known else ""
        alpha = f", {rates[0]}" if len(alphas) == 1 else ""
        lines = [f"Study: {several(self.data.sizes[SPLIT], 'split')}{examples}{by}{alpha}"]
        for plane, rate in zip(alphas, rates, strict=True):
            lines += [rate] if len(alphas) > 1 else []
            lines += _table(cells(plane))
        return lines

    def _verdict(self) -> list[str]:
        """Return which methods cover too little at the first alpha."""
        first = planes(self.data)[0]
        level = 1.0 - float(first[names.ALPHA])
        low: list[tuple[float, str]] = []
        others: list[tuple[float, str]] = []
        for name, cell in cells(first):
            mean = float(cell[AGGREGATED].mean())
            short = mean < level - TOLERATED and bool(np.isnan(cell["guaranteed_level"]))
            (low if short else others).append((mean, name))
        if low:
            share, name = min(low)
            text = f'with "{name}", sets cover {percent(share)} of the answers, without a guarantee'
            text += f'; with "{min(others)[1]}", {percent(min(others)[0])}' if others else ""
        elif "nothing" in first["guaranteed"].values:
            wanted = percent(level)
            text = f"no method without a guarantee covers clearly less than {wanted} on average"
        else:
            ends = dict.fromkeys(percent(share) for share, _ in (min(others), max(others)))
            text = f"the sets cover {' to '.join(ends)} of the answers"
        return wrapped(f"Verdict: {text}.")


def is_study(path: Path) -> bool:
    return holds(path, AGGREGATED.encode())


def compare(
    predictions: xr.DataArray,
    plausibilities: xr.DataArray | xr.Dataset,
    methods: Methods,
    *,
    alphas: Alphas = (0.1,),
    splits: int = 100,
    test: float = 0.5,
    cluster: str | None = None,
    stratify: str | xr.DataArray | None = None,
    draws: int | Sequence[int] | None = None,
    sizes: int | Sequence[int] | None = None,
    seed: int = 0,
    ties: Ties = "first",
    true_label: str | xr.DataArray | None = None,
    processes: int = 1,
    checkpoint: str | Path | Checkpoint | None = None,
    progress: Progress | None = None,
) -> Study:
    """Calibrate several methods on random splits, and measure each on the rest.

    Parameters
    ----------
    predictions : DataArray, ([augmentation,] example, label)
        Of a model that saw none of these examples, or not those of the fold that it predicts.
        Where the calibrator pools augmentations, a test example has a random one of its own.
    plausibilities
        See `plausibly.evaluate`.
    methods : mapping of str to mapping or str, or sequence of mapping or str
        Calibrators by name, or arguments of `calibrate` (``calibrator``, ``score``, ``combiner``,
        ``draws``, ``allow_no_guarantee``): under the name of the method, or in a list, named after
        their components or by a ``name``.
    alphas : number or text, or a sequence of them
        Miscoverage rates.
    splits : int
        How many; the first ones do not depend on it.
    test : float
        Share of the examples to measure on; the others calibrate.
    cluster : str, optional
        Coordinate of the examples whose values stay on one side, such as the patient; held-out
        parts of the calibration follow it too.
    stratify : str or DataArray, (example,), optional
        Coordinate of the examples, or values by name, such as ``plausibilities.idxmax("label")``:
        every value has the share `test` of its examples on the test side, but for one example. With
        `cluster` all examples of a cluster must have the same value, and shares are approximate.
    draws : int or sequence of int, optional
        Numbers of draws, along a dim ``draws``, of each calibrator that draws, also inside another;
        the coordinate ``uses_draws`` says which do.
    sizes : int or sequence of int, optional
        Numbers of calibration examples, along a dim ``size``: subsets of the calibration side, each
        part of every larger one; whole clusters, as long as they fit.
    seed : int
        Every split draws from a stream of its own.
    ties, true_label
        See `plausibly.evaluate`; known labels calibrate nothing.
    processes : int
        How many splits to work on at a time, each in a process of its own. The result is the same.
        A script must then call this below ``if __name__ == "__main__":``.
    checkpoint : str or Path, optional
        A folder where each finished split is kept. The same study, its rows in any order, or one of
        more splits, goes on from there; any other study is refused.
    progress : bool or callable, optional
        True for a bar on a terminal or in a notebook. A function is called with the number of
        finished splits, and of all.

    Returns
    -------
    Study
        Prints its table and verdict. In `data`, means over the test examples of a split, (method,
        split, alpha[, draws][, size]): `aggregated_coverage`, `majority_vote_coverage`, `set_size`,
        `share_empty`, `true_coverage` with `true_label`, and with `cluster` `cluster_coverage`, the
        mean over clusters of the means within; `vacuous`, whether every set is every label;
        `n_test`, (split,), and `n_calibration`, (split[, size]). Coordinates `guaranteed` (text)
        and `guaranteed_level` (NaN for none), (method, alpha[, draws][, size]): of
        `aggregated_coverage`. Attributes hold the settings, and the guarantees of the first split
        as JSON. Select a method by ``study.data.sel({"method": name})``.

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
    check_count("splits", splits, usual=100)
    check_count("processes", processes, usual=2)
    recorded: list[Recorded] = []
    design = designed(
        predictions,
        plausibilities,
        methods,
        alphas=alphas,
        test=test,
        cluster=cluster,
        stratify=stratify,
        draws=draws,
        sizes=sizes,
        seed=seed,
        ties=ties,
        true_label=true_label,
        recorded=recorded,
    )
    store = Checkpoint(folder=checkpoint) if isinstance(checkpoint, str | Path) else checkpoint
    by_number = {} if store is None else store.open(design, splits)
    left = [number for number in range(splits) if number not in by_number]
    with (
        ticking(progress, "comparing methods") as tick,
        closing(outcomes(design, left, processes)) as finished,
    ):
        if by_number:
            tick(len(by_number), splits)
        for outcome in finished:
            if store is not None:
                store.keep(outcome)
            by_number[outcome.number] = outcome
            tick(len(by_number), splits)
    results = [by_number[number] for number in range(splits)]  # in order, however they finished
    recorded += [warning for outcome in results for warning in outcome.warnings]
    issue_again(recorded, splits)
    further = {DRAWS: design.draws, SIZE: design.sizes}
    cells = (METHOD, names.ALPHA, *further)
    by_split = [{**outcome.measures, "vacuous": outcome.vacuous} for outcome in results]
    columns = {
        name: np.stack([measures[name] for measures in by_split], axis=1) for name in by_split[0]
    }
    levels, texts = [], []
    stated = zip(*(outcome.stated for outcome in results), strict=True)
    vacuous = columns["vacuous"].sum(axis=1).ravel().tolist()
    for of_splits, often in zip(stated, vacuous, strict=True):
        # The weakest guarantee of all splits, and in how many of them it is vacuous.
        weakest = min(
            of_splits, key=lambda guarantee: -1 if guarantee.level is None else guarantee.level
        )
        levels.append(weakest.value)
        text = weakest.short
        if weakest.level is not None and text != "nothing" and often:
            text += ", vacuous" if often == splits else f", vacuous in {often} of {splits}"
        texts.append(text)
    study = xr.Dataset(
        {
            **{
                name: ((METHOD, SPLIT, names.ALPHA, *further), values)
                for name, values in columns.items()
            },
            "n_test": (SPLIT, np.array([outcome.n_test for outcome in results])),
            "n_calibration": (
                (SPLIT, SIZE),
                np.stack([outcome.n_calibration for outcome in results]),
            ),
        },
        coords={
            METHOD: np.array(list(design.methods)),
            SPLIT: np.arange(splits),
            names.ALPHA: [float(alpha) for alpha in read_alphas(alphas)],
            **{dim: np.array(values) for dim, values in further.items() if values is not None},
            "guaranteed_level": (cells, np.reshape(levels, design.shape)),
            "guaranteed": (cells, np.reshape(texts, design.shape)),
        },
    ).isel({dim: 0 for dim, values in further.items() if values is None})
    if BY_GROUP in study:
        study[BY_GROUP].attrs["cluster"] = cluster
    if design.draws is not None:
        uses = [design.uses_draws(name) for name in design.methods]
        study = study.assign_coords(uses_draws=(METHOD, uses))
    study.attrs = {
        "n": design.predictions.sizes[names.EXAMPLE],
        "labels": design.predictions.sizes[names.LABEL],
        "seed": seed,
        "test": float(test),
        "ties": ties,
        "alphas": json.dumps([str(alpha) for alpha in design.alphas]),
        "methods": json.dumps({n: method.table() for n, method in read_methods(methods).items()}),
        "guarantees": json.dumps(results[0].guarantees),
        "version": version("plausibly"),
    }
    if design.groups is not None:
        study.attrs |= {"cluster": cluster, "clusters": len(np.unique(design.groups))}
    if design.strata is not None:
        study.attrs |= {"stratify": _stratum(stratify), "strata": len(np.unique(design.strata))}
    return Study(study)


def _stratum(stratify: object) -> str:
    return stratify if isinstance(stratify, str) else "stratify"


def designed(
    predictions: xr.DataArray,
    plausibilities: xr.DataArray | xr.Dataset,
    methods: Methods,
    *,
    alphas: Alphas,
    test: float,
    cluster: str | None,
    stratify: str | xr.DataArray | None,
    draws: int | Sequence[int] | None,
    sizes: int | Sequence[int] | None,
    seed: int,
    ties: Ties,
    true_label: str | xr.DataArray | None,
    recorded: list[Recorded] | None = None,
) -> Design:
    """Return what `compare` does on each split, its arguments checked; `recorded` has warnings."""
    wanted = read_methods(methods)
    check_option("tie policy", ties, TIES, 'ties="first"')
    model = Predictions.from_xarray(predictions).array
    model, plausibilities = inputs.matched(model, inputs.as_plausibilities(plausibilities))
    model, groups = inputs.with_clusters(model, cluster, plausibilities)
    stratum, strata = _stratum(stratify), None
    if stratify is not None:
        strata = inputs.values_by_name(stratify, (model, plausibilities), stratum)
    if groups is not None and strata is not None:
        check_strata(groups, strata, cluster=str(cluster), stratify=stratum)
    with record_warnings([] if recorded is None else recorded):
        read_alphas(alphas)
        made = {name: method.made() for name, method in wanted.items()}
    labels = name_texts(model[names.LABEL].values)
    return Design(
        predictions=model,
        plausibilities=plausibilities,
        methods=made,
        alphas=inputs.as_typed(alphas),
        test=test,
        cluster=cluster,
        groups=groups,
        strata=strata,
        seed=seed,
        ties=ties,
        true_label=inputs.true_codes(true_label, (model, plausibilities), labels),
        draws=None if draws is None else read_numbers("draws", draws),
        sizes=None if sizes is None else read_numbers("sizes", sizes),
    )


def load_study(path: str | Path) -> Study:
    """Read a study from the file of `Study.save`, or from ``results.nc`` of ``plausibly run``.

    Parameters
    ----------
    path : str or Path

    Returns
    -------
    Study
        As `plausibly.compare` returned it, with the same types.

    Raises
    ------
    InputError
        ``file-missing``, ``file-damaged``, or ``study-unknown`` where the file holds no study.
    """
    path = Path(path)
    study = arrays.load(path, "study").drop_encoding()
    _check(study, path.name)
    for name, values in list(study.variables.items()):
        if values.dtype.kind in "OSi":
            study[name] = values.astype(np.int64 if values.dtype.kind == "i" else np.str_)
    study.attrs = {
        str(name): value.item() if isinstance(value, np.generic) else value
        for name, value in study.attrs.items()
    }
    if "seed" in study.attrs:
        study.attrs["seed"] = int(study.attrs["seed"])
    return Study(study)


def _check(study: xr.Dataset, source: str) -> None:
    """Raise ``study-unknown`` unless it has the dims and the first measure of a study."""
    if not {METHOD, SPLIT, names.ALPHA} <= set(study.dims) or AGGREGATED not in study:
        raise InputError(
            "study-unknown",
            f"{source} is no result of a study",
            expected=f"{AGGREGATED} over method, split and alpha",
            found=f"{listed(study.data_vars) or 'no variable'} over "
            f"{listed(study.dims) or 'no dim'}",
            hint="pass what plausibly.compare returns, or results.nc of plausibly run",
            source=source,
        )


def _spread(cell: xr.Dataset) -> float:
    covered = cell[AGGREGATED].values
    return float(covered.std(ddof=1)) if covered.size > 1 else math.nan


def cells(study: xr.Dataset) -> list[tuple[str, xr.Dataset]]:
    """Return the parts of a study at one alpha: method, draws and size, each with its name."""
    rows = []
    for name, part in zip(map(str, study[METHOD].values), each(study, METHOD), strict=True):
        if DRAWS in part.dims and not part["uses_draws"]:
            part = part.isel({DRAWS: 0})
        dims = [dim for dim in _LETTERS if dim in part.dims]
        for cell in product(*(range(part.sizes[dim]) for dim in dims)):
            here = part.isel(dict(zip(dims, cell, strict=True)))
            numbers = [f"{_LETTERS[dim]} {counted(int(here[dim]))}" for dim in dims]
            rows.append((", ".join([name, *numbers]), here))
    return rows


def _table(rows: list[tuple[str, xr.Dataset]]) -> list[str]:
    """Return mean and spread of every method at one alpha."""
    width = min(_NAME_WIDTH, max(14, *(len(name) for name, _ in rows))) + 2
    room = max(9, 80 - width - 46)
    lines = [
        f"{'method':<{width}}{'all answers':>11}{'spread':>8}{'majority vote':>15}"
        f"{'set size':>10}  guarantee"
    ]
    for name, cell in rows:
        if len(name) > _NAME_WIDTH:  # a line of its own
            lines += textwrap.wrap(name, 80)
            name = ""
        covered = float(cell[AGGREGATED].values.mean())
        voted, size = (
            float(cell[measure].mean()) for measure in ("majority_vote_coverage", SET_SIZE)
        )
        stated = str(cell["guaranteed"].item()).replace("nothing", "none")
        of = f" {per(str(cell[BY_GROUP].attrs['cluster']))}" if BY_GROUP in cell else ""
        of = of if of in stated else ""
        first, *more = textwrap.wrap(stated.replace(of, ""), room, break_long_words=False)
        lines.append(
            f"{name:<{width}}{decimal(covered):>11}{decimal(_spread(cell)):>8}"
            f"{decimal(voted):>15}{size:>10.2f}  {'none' if of else first}"
        )
        if of:  # a mean of its own has a line of its own
            own = decimal(float(cell[BY_GROUP].mean()))
            lines.append(f"{f' {of}':<{width}}{own:>11}{'':>35}{first}")
        lines += [f"{'':<{width + 46}}{line}" for line in more]
    return lines
