"""``plausibly predict``: prediction sets for new examples, with their guarantee beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from plausibly.cli import layout, options
from plausibly.cli.output import DryRun, Output, check_path, show_dry_run
from plausibly.config.load import Draft
from plausibly.text import percent

FLAGS = {
    "Files": "PREDICTOR -p -e -o",
    "Prediction sets": "--alpha --chunks",
}
KEYS = {**options.NEW, "-o": "output.sets"}
REQUIRED = "-p"
CHUNKED = True
_EDGES = (1, 2, 3, 5, 10, 20, 50)
_MOST_SIZES = 6  # sizes that are listed one by one


def predict(output: Output, loaded: Draft, *, dry_run: DryRun = False) -> None:
    """Make prediction sets for new examples; their guarantee is written beside them as JSON.

    plausibly predict predictor.nc -p new.csv --alpha 0.1 -o sets.csv
    plausibly predict predictor.nc -p new.parquet --alpha 0.1,0.05 -o sets.zarr
    plausibly predict predictor.nc -p new.csv -e new_patients.csv -o sets.csv
    """
    import numpy as np

    from plausibly.cli import guarantee
    from plausibly.conformal.load import load_predictor
    from plausibly.data import names
    from plausibly.data.names import several
    from plausibly.data.states import read_left_out
    from plausibly.errors import counted
    from plausibly.evaluation.shift import warn_of_shift
    from plausibly.io import read_sets, write_sets
    from plausibly.io.sets import check_output
    from plausibly.study import reading

    settings = loaded.settings.on_new_examples()
    path, out = settings.output.predictor, settings.output.sets
    files: dict[str, Path | None] = {**output.inputs}
    files |= {"PREDICTOR": path, "--labels": settings.labels.path}
    in_store = out.suffix.lower() == ".zarr"
    check_path(out, files)
    check_path(out.with_suffix(".json"), files)
    check_output(out)
    beside = out if in_store else out.with_suffix(".json")
    alphas, chunks = [str(alpha) for alpha in settings.alphas], settings.compute.chunks
    predictor = load_predictor(path)
    with output.working("reading files"):
        model = reading.read_model(settings, predictor=predictor, chunks=chunks)
    reading.check_renames(settings.labels, model)
    with output.working("predicting"):
        sets = predictor.predict(model.predictions, alphas if len(alphas) > 1 else alphas[0])
    shifts = predictor.pools.calibration.claim.weights  # for which there are weights
    # Predictions in chunks are read once, for their sets.
    if predictor.reference is not None and not shifts and chunks is None:
        largest = predictor.largest_scores(model.predictions)
        warn_of_shift(predictor.reference, largest, source=model.source)
    examples, left_out = sets.sizes[names.EXAMPLE], read_left_out(sets.attrs)
    output.document |= {
        "predictor": {"path": path, "fingerprint": predictor.fingerprint},
        "predictions": model.facts,
    }
    rows: list[layout.Row] = [
        ("predictions", model.text),
        ("left out", layout.counts(left_out)),
    ]
    if dry_run:
        whole = "" if chunks is None else f", {counted(chunks)} examples at a time"
        planned = f"{several(examples, 'prediction set')} at alpha {' and '.join(alphas)}"
        show_dry_run(
            output,
            read=files,
            rows=rows,
            would=f"make {planned}{whole}",
            write=dict.fromkeys([out, beside]),
        )
        return
    with output.working(f"writing {out.name}") as tick, options.counting(chunks, tick):
        write_sets(sets, out)
        if in_store and chunks is not None:
            sets = read_sets(out, chunks=chunks)  # what is computed already

    thresholds = guarantee.thresholds(predictor, alphas)
    sizes = np.atleast_2d(sets.sum(names.LABEL).transpose(..., names.EXAMPLE).values)
    counts = [np.bincount(row).tolist() for row in sizes]
    means = [float(row.mean()) for row in sizes]
    overlap = int(sets.attrs["calibration_overlap"])
    output.document |= {
        "examples": examples,
        "labels": list(predictor.labels),
        "results": [
            {
                "alpha": float(alpha),
                **threshold,
                "mean_size": mean,
                "empty": row[0],
                "sizes": {size: count for size, count in enumerate(row) if count},
            }
            for alpha, threshold, mean, row in zip(alphas, thresholds, means, counts, strict=True)
        ],
        "guarantees": [predictor.guarantee(alpha).to_json() for alpha in alphas],
        "calibration_overlap": overlap,
        "left_out": left_out,
        "saved": {"sets": out, "guarantee": beside},
    }
    rows += [
        ("sets", f"alpha {alpha}: {_sizes(row)}; {mean:.2f} labels per set; {_threshold(known)}")
        for alpha, known, mean, row in zip(alphas, thresholds, means, counts, strict=True)
    ]
    if overlap:
        calibrated = f"{counted(overlap)} of {counted(examples)} examples calibrated this predictor"
        rows.append(("note", f"{calibrated}; they cannot test it"))
    elif names.NUMBERED in sets.attrs:
        unknown = "whether they calibrated this predictor is not known"
        rows.append(("note", f"the rows of {model.source} have no names; {unknown}"))
    saved = f"{out} (true or false by example and label, with the guarantee)"
    if not in_store:
        saved = (
            f"{out} (example, alpha, size, labels, one 0/1 column per label) and {beside} "
            "(guarantee, predictor fingerprint, versions)"
        )
    known = options.found_without_flags(loaded, "new.annotations")
    needs = () if known else (out, "-a", "VOTES")
    following = ("plausibly", "evaluate", *needs, *options.examples_of_groups(loaded))
    output.rows([*rows, ("saved", saved), ("next", following)])


def _sizes(counts: Sequence[int]) -> str:
    words = {1: "one label", 2: "two", 3: "three"}
    largest = len(counts) - 1
    edges = range(1, largest) if largest <= _MOST_SIZES else [e for e in _EDGES if e < largest]
    starts = [1, *(edge + 1 for edge in edges)]
    parts: list[str] = []
    for low, high in zip(starts, [*edges, largest], strict=True):
        if count := sum(counts[low : high + 1]):
            size = words.get(low, str(low)) if low == high else f"{low} to {high}"
            noun = "" if parts or low == 1 else " labels"
            parts.append(f"{percent(count / sum(counts))} with {size}{noun}")
    empty = percent(counts[0] / sum(counts)) if counts[0] else "none"
    return ", ".join([*parts, f"{empty} empty"])


def _threshold(known: Mapping[str, object]) -> str:
    value = known["threshold"]
    if value is None:
        return "no threshold (by p-value)"
    ends = [min(value.values()), max(value.values())] if isinstance(value, dict) else [value]
    return f"threshold {' to '.join(dict.fromkeys(f'{end:.4g}' for end in ends))}"
