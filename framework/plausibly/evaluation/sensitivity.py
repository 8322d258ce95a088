"""The same prediction sets under several aggregators: what depends on how responses were merged."""

from __future__ import annotations

import json
from importlib.metadata import version
from typing import Literal

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly.calibration.alphas import AlphaLike, Alphas, read_alphas
from plausibly.conformal.aggregate import aggregate
from plausibly.data import align, names, seal, validate
from plausibly.data.left_out import read_left_out, with_left_out
from plausibly.data.names import name_texts
from plausibly.data.select import answered, select
from plausibly.evaluation import inputs
from plausibly.evaluation.asked import check_count
from plausibly.evaluation.design import Stated
from plausibly.evaluation.heard import Said, repeat
from plausibly.evaluation.methods import Method
from plausibly.evaluation.sensitivity_parts import (
    Aggregators,
    Judge,
    Run,
    assembled,
    judge_of,
    read_aggregators,
    read_reference,
)
from plausibly.evaluation.splits import check_share, split, split_keys
from plausibly.kernels.random import hash_names
from plausibly.progress import Progress, ticking
from plausibly.protocols import (
    Calibrator,
    ComponentLike,
    PValueCombiner,
    ScoreFunction,
)


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
    group: str | None = None,
    seed: int = 0,
    reference: str | None = None,
    unanswered: Literal["error", "drop"] = "error",
    only_common: bool = False,
    progress: Progress | None = None,
) -> xr.Dataset:
    """Measure how far prediction sets and their coverage depend on the aggregator.

    All annotations are aggregated by each aggregator. On each random split, the same method is
    calibrated with the plausibilities of each in turn, and the sets of the test examples are judged
    by the plausibilities of each.

    Parameters
    ----------
    predictions : DataArray, (example, label)
        Of a model that saw none of these examples.
    annotations : Dataset
        An annotation table. Matched with the predictions by name.
    aggregators : sequence or mapping
        Two or more: names, tables such as ``{"name": "dirichlet", "temperature": 3.0}``, or
        objects; by a name of your own in a mapping. Where one draws plausibilities, sets are judged
        by their mean.
    alphas : number or text, or a sequence of them
        Miscoverage rates.
    calibrator, score, combiner, draws
        See `plausibly.calibrate`.
    splits : int
        How many; the first ones do not depend on it.
    test : float
        Share of the examples to measure on; the others calibrate.
    group : str, optional
        Coordinate of the examples whose groups stay on one side, such as the patient.
    seed : int
        Of aggregators that draw, of the splits, and of what calibrators draw.
    reference : str, optional
        Name of the aggregator with whose sets those of the others are compared; by default the
        first.
    unanswered : {"error", "drop"}
        See `plausibly.aggregate`; predictions of dropped examples are left out as well.
    only_common : bool
        Leave out the examples that only one side has, instead of refusing.
    progress : bool or callable, optional
        True for a bar on a terminal or in a notebook, silent elsewhere. A function is called with
        the number of finished splits, and of all.

    Returns
    -------
    Dataset
        `aggregated_coverage` and `voted_coverage`, (calibrated_with, judged_by, split, alpha), and
        `set_size`, (calibrated_with, split, alpha): means over the test examples; `sets_changed`,
        the share of test examples whose set is not that of the reference. Over all examples:
        `total_variation` = ``mean_i 1/2 sum_k |lambda_ik - mu_ik|`` and `top_changed`, the share of
        examples in which no label is the most plausible one in both, (calibrated_with, judged_by);
        `largest_plausibility`, its mean, (judged_by). Coordinates `guaranteed` and
        `guaranteed_level`, (calibrated_with, alpha): of coverage as the same aggregator judges it,
        and of no other; the level is NaN where it is of another mean. With `group` also
        `group_coverage`, the mean over groups of the means within, which ``grouped`` is about.
        Attributes hold the settings.

    Raises
    ------
    InputError
        ``aggregators-few``, ``aggregator-twice``, ``reference-unknown``, and what `aggregate`,
        `calibrate` and the splits say.

    Warns
    -----
    PlausiblyWarning
        What splits warn of, once, at the end.
    """
    asked = read_aggregators(aggregators)
    chosen = read_reference(reference, list(asked))
    check_share(test)
    check_count("splits", splits, do="splits=100")
    exact = read_alphas(alphas)
    given: list[AlphaLike] = np.asarray(alphas, dtype=object).ravel().tolist()
    method = Method(calibrator=calibrator, score=score, combiner=combiner, draws=draws)
    table = seal.check_table(annotations)
    model = validate.check_predictions(predictions)
    labels = tuple(map(str, model[names.LABEL].values))
    if unanswered == "drop":
        table, model = _answered(table, model)
    judges: dict[str, Judge] = {}
    for name, component in asked.items():
        lam = aggregate(table, component, seed=seed)
        lam = align.match_labels(lam, labels, whose="plausibilities", other="predictions")
        model, lam = align.match_examples(model, lam, only_common=only_common)
        judges[name] = judge_of(lam)
    groups = None if group is None else inputs.example_values(group, (model, lam))
    if groups is not None:
        model = model.assign_coords({group: (names.EXAMPLE, groups)})

    run = Run(
        model=model,
        judges=judges,
        method=method.made(),
        alphas=given,
        group=group,
        groups=groups,
        seed=seed,
    )
    said: list[Said] = []
    hashes = hash_names(model[names.EXAMPLE].values)
    found: list[dict[str, NDArray[np.float64]]] = []
    stated: list[list[Stated]] = []
    with ticking(progress, "comparing aggregators") as tick:
        for number in range(splits):
            chosen_test = split(hashes, split_keys(seed, number), test=test, groups=groups)
            measured, stated = run.split(number, chosen_test, list(asked).index(chosen), said)
            found.append(measured)
            tick(number + 1, splits)
    repeat(said, splits)
    facts: dict[str, object] = {
        "n": model.sizes[names.EXAMPLE],
        "labels": len(labels),
        "seed": seed,
        "test": float(test),
        "reference": chosen,
        "method": json.dumps(method.table()),
        "notes": json.dumps({name: one.notes for name, one in judges.items()}),
        "version": version("plausibly"),
    }
    if group is not None:
        facts["group"] = group
    result = assembled(judges, found, stated, [float(alpha) for alpha in exact])
    return with_left_out(result.assign_attrs(facts), read_left_out(model.attrs))


def _answered(table: xr.Dataset, model: xr.DataArray) -> tuple[xr.Dataset, xr.DataArray]:
    """Return annotations and predictions without the examples that nobody answered."""
    kept = answered(table)
    dropped = set(name_texts(table.indexes[names.EXAMPLE])).difference(kept)
    if not dropped:
        return table, model
    here = name_texts(model.indexes[names.EXAMPLE])
    stay = np.array([name not in dropped for name in here], bool)
    model = model.isel({names.EXAMPLE: stay})
    model = with_left_out(model, {"without a response": len(dropped)})
    return select(table, example=kept), model
