"""Sensitivity: the same prediction sets under several aggregators."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version
from typing import Any, Literal, TypeAlias

import numpy as np
import xarray as xr

from plausibly import registry
from plausibly.calibration.alphas import Alphas, read_alphas
from plausibly.conformal.aggregate import aggregate
from plausibly.data import names, validate
from plausibly.data.annotations import check_table
from plausibly.data.names import name_texts, not_among, several, text_array
from plausibly.data.plausibilities import mean_over_draws
from plausibly.data.select import answered, select_annotations
from plausibly.data.states import read_left_out, with_left_out
from plausibly.errors import InputError, counted, listed
from plausibly.evaluation import inputs
from plausibly.evaluation.design import (
    BY_GROUP,
    Method,
    Recorded,
    Stated,
    component_name,
    exact_mean,
    exact_means,
    issue_again,
    per,
    record_warnings,
    sets_of,
)
from plausibly.evaluation.inputs import Targets
from plausibly.evaluation.result import (
    AGGREGATED,
    SET_SIZE,
    Result,
    decimal,
    planes,
    wrapped,
)
from plausibly.evaluation.splits import (
    check_count,
    check_option,
    split,
    split_keys,
    split_seed,
)
from plausibly.evaluation.study import TOLERATED
from plausibly.kernels.coverage import row_sums
from plausibly.kernels.random import hash_names
from plausibly.kernels.types import Floats
from plausibly.progress import Progress, ticking
from plausibly.protocols import (
    AGGREGATOR,
    Aggregator,
    Calibrator,
    ComponentLike,
    PValueCombiner,
    ScoreFunction,
)
from plausibly.text import percent

CALIBRATED_WITH = "calibrated_with"
JUDGED_BY = "judged_by"
SPLIT = "split"
_SQUARE = (CALIBRATED_WITH, JUDGED_BY)
_SAME = 1e-9  # plausibilities that differ by less are the same

Aggregators: TypeAlias = (
    Mapping[str, ComponentLike[Aggregator]] | Sequence[ComponentLike[Aggregator]]
)
"""Aggregators by name, or called after themselves and their parameters."""


def read_aggregators(aggregators: Aggregators) -> dict[str, Aggregator]:
    named: list[tuple[str, ComponentLike[Aggregator]]]
    if isinstance(aggregators, Mapping):
        named = list(aggregators.items())
    elif isinstance(aggregators, str) or not isinstance(aggregators, Iterable):
        named = [(component_name(AGGREGATOR, aggregators), aggregators)]
    else:
        named = [(component_name(AGGREGATOR, like), like) for like in aggregators]
    texts = [name for name, _ in named]
    twice = sorted({name for name in texts if texts.count(name) > 1})
    if twice:
        raise InputError(
            "aggregator-twice",
            f"two aggregators are called {listed(twice)}",
            expected="different names",
            found=listed(twice),
            hint='leave one out, or name them: aggregators={"mild": ..., "strong": ...}',
        )
    if len(named) < 2:
        raise InputError(
            "aggregators-few",
            "there is nothing to compare",
            expected="two aggregators or more",
            found=listed(texts) or "none",
            hint='aggregators=["label-frequency", "dawid-skene"]',
        )
    return {name: registry.resolve(AGGREGATOR, like) for name, like in named}


CROSS = "✗"
_AT_ONCE = 4  # columns of a table
_NAME = 26


class Sensitivity(Result):
    """The same sets under several aggregators, from `plausibly.sensitivity`: prints its tables."""

    @property
    def names(self) -> list[str]:
        """Names of the aggregators, in the order of the tables."""
        return [str(name) for name in self.data[JUDGED_BY].values]

    def lines(self) -> list[str]:
        at_alpha = self.data.isel({names.ALPHA: 0})
        means = at_alpha[self._measure()].mean(SPLIT).transpose(*_SQUARE).values
        row = self.names.index(str(self.data.attrs["reference"]))
        low, high = int(means[row].argmin()), int(means[row].argmax())
        sizes = at_alpha[SET_SIZE].mean(SPLIT).values
        blocks = wrapped(
            f"Sensitivity: at alpha {float(at_alpha[names.ALPHA]):g}, the sets of "
            f"{self.names[row]} cover {decimal(means[row, low])} of the answers when they are "
            f"aggregated by {self.names[low]}, and {decimal(means[row, high])} by "
            f"{self.names[high]}. Calibrated with each aggregator, sets have {sizes.min():.2f} to "
            f"{sizes.max():.2f} labels. Means of {several(self.data.sizes[SPLIT], 'split')}. The "
            "guarantee is for the aggregator that calibrated: the diagonal."
        )
        blocks.append("")
        # The numbers by which the tables call the aggregators, with notes.
        notes: dict[str, dict[str, Any]] = json.loads(self.data.attrs["notes"])  # Any: as stored
        largest = self.data["largest_plausibility"].values.tolist()
        for place, (name, value) in enumerate(zip(self.names, largest, strict=True), start=1):
            parts = [f"largest plausibility {decimal(value)}"]
            if notes[name].get("joint"):
                parts.append("learns from all examples")
            left_out = notes[name].get("left_out", {})
            parts += [f"left out: {counted(n)} {reason}" for reason, n in left_out.items()]
            if name == self.data.attrs["reference"]:
                parts.append("the reference")
            head = f"{place:>2}  {name}: "
            blocks += textwrap.wrap(head + "; ".join(parts), 80, subsequent_indent=" " * 6)
        for plane in planes(self.data):
            blocks += ["", *self._coverage(plane)]
        # How far plausibilities differ, and how often the first label is another: both symmetric.
        distances = self.data["total_variation"].values, self.data["top_changed"].values
        columns = []
        for place, (variations, shares) in enumerate(zip(*distances, strict=True)):
            changed = [f"({percent(share)})" for share in shares.tolist()]
            pairs = zip(variations.tolist(), changed, strict=True)
            cells = [f"{decimal(variation):>6}{share:>6}" for variation, share in pairs]
            cells[place] = f"{'-':>12}"
            columns.append([f"{place + 1:>12}", *cells])
        return [*blocks, "", *self._squares(f"{'distance (first label)':<{_NAME + 2}}", columns)]

    def to_json(self) -> dict[str, object]:
        def plain(table: xr.DataArray) -> object:
            of_rows = table.to_pandas()
            return (of_rows.T if table.ndim > 1 else of_rows).to_dict()

        data = self.data
        measured = [AGGREGATED, "majority_vote_coverage"]
        measured += [*([BY_GROUP] if BY_GROUP in data else []), SET_SIZE, "sets_changed"]
        return {
            "reference": data.attrs["reference"],
            "examples": int(data.attrs["n"]),
            "splits": data.sizes[SPLIT],
            "method": json.loads(data.attrs["method"]),
            "notes": json.loads(data.attrs["notes"]),
            "alphas": [
                {
                    "alpha": float(plane[names.ALPHA]),
                    **{name: plain(plane[name]) for name in measured},
                    "guaranteed": plain(plane["guaranteed"]),
                }
                for plane in planes(data[measured].mean(SPLIT))
            ],
            **{
                name: plain(data[name])
                for name in ("total_variation", "top_changed", "largest_plausibility")
            },
        }

    def _measure(self) -> str:
        """Return the name of the mean that is guaranteed: over groups, where it is one."""
        stated, texts = per(str(self.data.attrs.get("cluster", ""))), self.data["guaranteed"].values
        of_groups = BY_GROUP in self.data and all(stated in text for text in texts.ravel())
        return BY_GROUP if of_groups else AGGREGATED

    def _coverage(self, plane: xr.Dataset) -> list[str]:
        """Return coverage of the sets of each aggregator on the answers of each, at one alpha."""
        alpha, name = float(plane[names.ALPHA]), self._measure()
        means = plane[name].mean(SPLIT).transpose(JUDGED_BY, CALIBRATED_WITH).values
        columns = []
        for place, row in enumerate(means, start=1):
            low = [CROSS if mean < 1 - alpha - TOLERATED else " " for mean in row]
            cells = [f"{decimal(mean):>6}{sign}" for mean, sign in zip(row, low, strict=True)]
            columns.append([f"{place:>6} ", *cells])
        sizes, changed = (plane[of].mean(SPLIT).values for of in (SET_SIZE, "sets_changed"))
        last = ["   size  changed"]
        for size, share in zip(sizes, changed, strict=True):
            last.append(f"{size:>7.2f}{percent(share) if share else '-':>9}")
        of = " (mean of groups)" if name == BY_GROUP else ""
        above = f"{f'alpha {alpha:g}':<{_NAME}}   coverage{of}, evaluated with"
        return self._squares(f"{'calibrated with':<{_NAME}}", [*columns, last], above)

    def _squares(self, title: str, columns: Sequence[Sequence[str]], above: str = "") -> list[str]:
        """Return tables with a row per aggregator, a few columns at a time."""
        rows = [title]
        for place, name in enumerate(self.names, start=1):
            shown = f"{place:>2}  {name}"
            cut = shown if len(shown) < _NAME else f"{shown[: _NAME - 2]}…"
            rows.append(f"{cut:<{len(title)}}")
        lines, left = [], list(columns)
        while left:
            # The sizes at the end stand beside the last aggregators.
            count = _AT_ONCE if len(left) > _AT_ONCE + bool(above) else len(left)
            part, left = left[:count], left[count:]
            lines += [above] if above else []
            lines += ["".join(line).rstrip() for line in zip(rows, *part, strict=True)]
        return lines


def sensitivity(
    predictions: xr.DataArray,
    annotations: xr.Dataset,
    aggregators: Aggregators,
    *,
    alphas: Alphas = (0.1,),
    calibrator: ComponentLike[Calibrator] = "expected",
    score: ComponentLike[ScoreFunction] = "probability",
    combiner: ComponentLike[PValueCombiner] = "average",
    draws: int | None = None,
    splits: int = 100,
    test: float = 0.5,
    cluster: str | None = None,
    seed: int = 0,
    reference: str | None = None,
    unanswered: Literal["error", "drop"] = "error",
    only_common: bool = False,
    progress: Progress | None = None,
) -> Sensitivity:
    """Measure how far prediction sets and their coverage depend on the aggregator.

    On each random split, the same method is calibrated with the plausibilities of each aggregator,
    and the sets of the test examples are judged by the plausibilities of each.

    Parameters
    ----------
    predictions, alphas, splits, test, cluster, progress
        See `plausibly.compare`.
    annotations : Dataset
        An annotation table. Matched with the predictions by name.
    aggregators : sequence or mapping
        Two or more: names, tables such as ``{"name": "dirichlet", "temperature": 3.0}``, or
        objects; in a mapping under names of your own. Plausibilities that one draws judge by their
        mean.
    calibrator, score, combiner, draws
        See `plausibly.calibrate`.
    seed : int
        Of aggregators that draw, of the splits, and of what calibrators draw.
    reference : str, optional
        Name of the aggregator whose sets the others are compared with; by default the first.
    unanswered, only_common
        See `plausibly.aggregate`; predictions of dropped examples are left out as well.

    Returns
    -------
    Sensitivity
        Prints its tables. In `data`, means over the test examples: `aggregated_coverage`,
        `majority_vote_coverage` and with `cluster` `cluster_coverage` (the mean over clusters of
        the means within), (calibrated_with, judged_by, split, alpha); `set_size` and
        `sets_changed`, the share whose set is not that of the reference, (calibrated_with, split,
        alpha). Over all examples: `total_variation` = ``mean_i 1/2 sum_k |lambda_ik - mu_ik|`` and
        `top_changed`, the share in which no label is the most plausible one in both,
        (calibrated_with, judged_by); `largest_plausibility`, its mean, (judged_by). Coordinates
        `guaranteed` and `guaranteed_level`, (calibrated_with, alpha): of coverage by the same
        aggregator; the level is NaN where it is of another mean.

    Raises
    ------
    InputError
        ``aggregators-few``, ``aggregator-twice``, ``option-unknown``, and what `aggregate`,
        `calibrate` and the splits say.

    Warns
    -----
    PlausiblyWarning
        What splits warn of, once, at the end.
    """
    components = read_aggregators(aggregators)
    known = list(components)
    chosen = known[0] if reference is None else reference
    hint = inputs.meant(chosen, known) or f'reference="{known[0]}"'
    check_option("aggregator", chosen, known, hint)
    check_count("splits", splits, usual=100)
    exact = read_alphas(alphas)
    method = Method(calibrator=calibrator, score=score, combiner=combiner, draws=draws)
    made = method.made()
    table = check_table(annotations)
    model = validate.check_predictions(predictions)
    every = name_texts(table.indexes[names.EXAMPLE])
    kept = answered(table) if unanswered == "drop" else every
    dropped = set(not_among(every, kept))
    if dropped:
        stay = [name not in dropped for name in name_texts(model.indexes[names.EXAMPLE])]
        model = with_left_out(model[stay], {"without a response": len(dropped)})
        table = select_annotations(table, example=kept)
    versions: dict[str, xr.DataArray] = {}
    means: dict[str, Floats] = {}
    notes: dict[str, dict[str, object]] = {}
    for name, component in components.items():
        plausibilities = aggregate(table, component, seed=seed)
        model, plausibilities = inputs.matched(model, plausibilities, only_common)
        versions[name], left_out = plausibilities, read_left_out(plausibilities.attrs)
        means[name] = mean_over_draws(plausibilities).values.astype(np.float64, copy=False)
        notes[name] = {"left_out": left_out} if left_out else {}
        notes[name] |= {"joint": True} if names.JOINT in plausibilities.attrs else {}
    model, groups = inputs.with_clusters(model, cluster, plausibilities)
    typed = inputs.as_typed(alphas)
    recorded: list[Recorded] = []
    hashes = hash_names(model[names.EXAMPLE].values)
    size, reference_row = len(known), known.index(chosen)
    by_judge = [AGGREGATED, "majority_vote_coverage", *([] if groups is None else [BY_GROUP])]
    measures = {name: np.empty((size, size, splits, len(typed))) for name in by_judge}
    measures |= {name: np.empty((size, splits, len(typed))) for name in (SET_SIZE, "sets_changed")}
    with ticking(progress, "comparing aggregators") as tick:
        for number in range(splits):
            tested = split(hashes, split_keys(seed, number), test=test, groups=groups)
            new, sets, stated = model.isel({names.EXAMPLE: tested}), [], []
            for plausibilities in versions.values():
                with record_warnings(recorded, number):
                    predictor = made.calibrated(
                        model, plausibilities, ~tested, split_seed(seed, number), cluster
                    )
                    sets.append(sets_of(predictor, new, typed))
                    stated.append([Stated.by(predictor.guarantee(alpha)) for alpha in typed])
            of_test = None if groups is None else groups[tested]
            for row, at in np.ndindex(size, len(typed)):
                plane, cell = sets[row][at], (row, number, at)
                changed = (plane != sets[reference_row][at]).any(axis=1)
                measures["sets_changed"][cell] = exact_mean(changed)
                for column, mean in enumerate(means.values()):
                    figures = exact_means(plane, Targets(mean[tested]), of_test)
                    measures[SET_SIZE][cell] = figures[SET_SIZE]
                    for name in by_judge:
                        measures[name][row, column, number, at] = figures[name]
            tick(number + 1, splits)
    issue_again(recorded, splits)
    tops = [mean >= mean.max(axis=1, keepdims=True) - _SAME for mean in means.values()]
    distances = [
        [exact_mean(row_sums(np.abs(first - second), most=2.0)) / 2 for second in means.values()]
        for first in means.values()
    ]
    cells, aggregator_names = (CALIBRATED_WITH, names.ALPHA), text_array(known)
    shorts = text_array([guarantee.short for row in stated for guarantee in row])
    result = xr.Dataset(
        {
            **{
                name: ((*_SQUARE[: values.ndim - 2], SPLIT, names.ALPHA), values)
                for name, values in measures.items()
            },
            "total_variation": (_SQUARE, distances),
            "top_changed": (
                _SQUARE,
                [[exact_mean(~(first & second).any(axis=1)) for second in tops] for first in tops],
            ),
            "largest_plausibility": (
                JUDGED_BY,
                [exact_mean(mean.max(axis=1)) for mean in means.values()],
            ),
        },
        coords={
            CALIBRATED_WITH: aggregator_names,
            JUDGED_BY: aggregator_names,
            SPLIT: np.arange(splits),
            names.ALPHA: [float(alpha) for alpha in exact],
            "guaranteed": (cells, shorts.reshape(size, -1)),
            "guaranteed_level": (cells, [[guarantee.value for guarantee in row] for row in stated]),
        },
    )
    result.attrs = {
        "n": model.sizes[names.EXAMPLE],
        "labels": model.sizes[names.LABEL],
        "seed": seed,
        "test": float(test),
        "reference": chosen,
        "method": json.dumps(method.table()),
        "notes": json.dumps(notes),
        "version": version("plausibly"),
        **({} if cluster is None else {"cluster": cluster}),
    }
    return Sensitivity(with_left_out(result, read_left_out(model.attrs)))
