"""Screens of a study before and after it runs, and the same as data."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import product
from pathlib import Path

import xarray as xr

from plausibly.cli import layout
from plausibly.cli.guarantee import guarantee_rows, needed_of_new, next_command
from plausibly.data import names
from plausibly.data.names import several
from plausibly.errors import counted
from plausibly.evaluation.design import BY_GROUP
from plausibly.evaluation.result import AGGREGATED, decimal, each, ends, figures, part_rows, planes
from plausibly.evaluation.study import DRAWS, METHOD, SIZE, SPLIT
from plausibly.guarantee import bounded
from plausibly.study import Prepared, StudyResult
from plausibly.study.reading import model_facts, shape_text
from plausibly.study.run import assumptions


def blocks(ready: Prepared) -> list[layout.Row]:
    study, model, answers = ready.study, ready.predictions, ready.answers
    rates = f"alpha {', '.join(map(str, study.alphas))}"
    predicted = study.predictions.path.name if study.predictions.path else ""
    shape = shape_text(model, matched=model.sizes[names.EXAMPLE])
    rows: list[layout.Row] = [
        ("settings", f"{ready.name}: {several(len(study.methods), 'method')}, {rates}"),
        (answers.what, answers.text),
        ("predictions", f"{predicted}: {shape}"),
        ("left out", layout.counts(ready.left_out)),
    ]
    if answers.component is not None:
        default = f" (the default for {answers.facts['kind']})" if answers.by_default else ""
        rows.append(("aggregator", f"{layout.component(answers.component)}{default}"))
    return rows


def assumptions_text(ready: Prepared) -> str:
    return "; ".join(assumptions(ready.predictions, ready.study.examples.cluster))


def design(ready: Prepared) -> str:
    splits, cluster = ready.study.splits, ready.study.examples.cluster
    by = f" by {cluster}" if cluster else ""
    strata = f" and of each {splits.stratify}" if splits.stratify else ""
    share = f"{100 * splits.test:g}% of the examples{strata} to test"
    parts = [f"{several(splits.count, 'random split')}{by}, {share}"]
    if splits.sizes:
        parts.append(f"{', '.join(map(counted, splits.sizes))} calibration examples (n)")
    if splits.draws:
        parts.append(f"{', '.join(map(counted, splits.draws))} draws (m)")
    return "; ".join([*parts, f"seed {ready.study.seed}"])


def before(ready: Prepared) -> dict[str, object]:
    study, model = ready.study, ready.predictions
    return {
        "study": ready.tables(),
        ready.answers.what: ready.answers.facts,
        "predictions": model_facts(model, study.predictions.path),
        "left_out": dict(ready.left_out),
        "assumptions": assumptions(model, study.examples.cluster),
    }


def outcome(result: StudyResult, written: Sequence[Path], report: Path | None) -> list[layout.Row]:
    """Return what is guaranteed, where it is weak, what was written, and how to go on."""
    study, method = result.prepared.study, result.first
    rows: list[layout.Row] = [
        *guarantee_rows(result.predictor, study.alphas, "guarantee", f"{method}, ")
    ]
    if result.groups is not None:
        plane = next(iter(planes(result.groups)))
        alpha, among = float(plane[names.ALPHA]), int(plane.attrs["compared"])
        group = plane.sel(subgroup=plane["weakest"].item())
        mean, low, high = figures(group, AGGREGATED)
        widened = f", widened for {several(among, 'group')}" if among > 1 else ""
        below = "below" if high < 1 - alpha else "not shown to be below"
        text = (
            f"{group['subgroup'].item()}, {decimal(mean)} ({ends(low, high)}{widened}): "
            f"{below} {bounded(1 - Fraction(str(alpha)))}; "
            f"{several(int(group['count']), 'example')}, sets of {method} at alpha {alpha:g}"
        )
        rows.append(("lowest", text))
    rows.append(("assumptions", assumptions_text(result.prepared)))
    files = [*([] if report is None else [report]), *written]
    sets = next(path for path in written if path.suffix == ".csv")
    predictor = next(path for path in written if path.name.startswith("predictor"))
    tested = several(result.sets.sizes[names.EXAMPLE], "test example")
    of_sets = f"{sets.name}: {method}, for the {tested} of split 0"
    calibrated = several(result.predictor.n, "example")
    of_predictor = f"{predictor.name}: {method}, on all {calibrated}"
    command = next_command(result.predictor, predictor, study.alphas[0], "new_sets.csv")
    rows += [
        ("saved", f"{study.output.folder}/: {' '.join(path.name for path in files)}"),
        ("", f"{of_sets}; {of_predictor}"),
        ("needs", needed_of_new(result.predictor)),
        ("next" if report is None else "predict", command),
    ]
    if report is not None:
        rows.append(("next", ("open", report)))
    return rows


def after(result: StudyResult, written: Sequence[Path]) -> dict[str, object]:
    compared, predictor = result.compared, result.predictor
    alphas = result.prepared.study.alphas
    return {
        "methods": [_method(method) for method in each(compared, METHOD)],
        "groups": [] if result.groups is None else part_rows(result.groups, "subgroup"),
        "predictor": {
            "calibration": result.first,
            "n": predictor.n,
            "fingerprint": predictor.fingerprint,
            "guarantees": [predictor.guarantee(alpha).to_json() for alpha in alphas],
        },
        "sets": {
            "calibration": result.first,
            "examples": result.sets.sizes[names.EXAMPLE],
            "of": "the test examples of split 0",
        },
        "written": list(written),
    }


def _method(method: xr.Dataset) -> dict[str, object]:
    name = str(method[METHOD].item())
    dims = [dim for dim in (names.ALPHA, SIZE, DRAWS) if dim in method.dims]
    measures = [*COVERAGES, *([BY_GROUP] if BY_GROUP in method else []), "set_size", "share_empty"]
    results = []
    for cell in product(*(range(method.sizes[dim]) for dim in dims)):
        here = method.isel(dict(zip(dims, cell, strict=True)))
        place = {dim: here[dim].item() for dim in dims}
        guaranteed = here["guaranteed_level"].item()
        results.append({**place, **means(here, measures), "guaranteed": guaranteed})
    return {"name": name, **json.loads(method.attrs["methods"])[name], "results": results}


COVERAGES = (AGGREGATED, "majority_vote_coverage", "true_coverage")


def means(result: xr.Dataset, measures: Iterable[str]) -> dict[str, object]:
    return {
        **{name: result[name].mean().item() if name in result else None for name in measures},
        "spread": result[AGGREGATED].std(ddof=1).item() if result.sizes[SPLIT] > 1 else None,
        "vacuous_splits": int(result["vacuous"].sum()),
    }
