"""``plausibly agreement``: how much annotators agree, who differs, and over which labels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from plausibly.cli import options
from plausibly.cli.output import Output
from plausibly.config.load import Draft

FLAGS = {
    "Files": "-a -e --labels",
    "Format of the annotations": options.FORMAT,
    "Measures": "--annotators --order --by --cluster --risk --confidence --seed",
}
KEYS = {"--by": "agreement.by"}
REQUIRED = "-a"


def agreement(output: Output, loaded: Draft) -> None:
    """Say how much annotators agree, beyond chance too, over which labels, and who differs.

    Intervals are of resamples of the examples, or of their clusters.

    plausibly agreement -a votes.csv
    plausibly agreement -a ratings.csv --order 1,2,3,4,5
    plausibly agreement -a votes.csv --annotators
    plausibly agreement -a votes.csv -e patients.csv --by site --cluster patient
    """
    from plausibly.annotators.agreement import agreement as measured, describe_certainty
    from plausibly.annotators.certainty import annotation_certainty
    from plausibly.cli import layout
    from plausibly.conformal.aggregate import aggregate
    from plausibly.io import with_coordinates
    from plausibly.study.reading import annotation_facts, read_examples_of, read_table, summary_of

    settings, chosen = loaded.settings, loaded.settings.agreement
    shared: dict[str, Any] = {  # Any: each argument has its own type
        "cluster": settings.examples.cluster,
        "confidence": chosen.confidence,
        "seed": settings.seed,
    }
    if chosen.risk is not None and chosen.draws is None:
        raise options.unfit(
            "--risk",
            "without agreement.draws",
            expected="resamples of the responses, by which levels are certain",
            found=f"--risk {chosen.risk}",
            hint="--set agreement.draws=100",
        )
    with output.working("reading files"):
        annotated = table = read_table(settings)
        if (about := read_examples_of(settings)) is not None:
            annotated = with_coordinates(table, about)
    with output.working("comparing answers"):
        result = measured(
            annotated,
            order=chosen.order or None,
            depth=chosen.depth,
            by=chosen.by,
            resamples=chosen.resamples,
            **shared,
        )
    path = settings.annotations.path or Path()
    output.document |= {"annotations": annotation_facts(table, path), **result.to_json()}
    shown = [layout.fields([("annotations", summary_of(table, path.name))])]
    shown += result.annotator_lines() if chosen.annotators else result.lines()
    if chosen.draws is not None:
        bootstrap: dict[str, object] = {"name": "bootstrap", "draws": chosen.draws}
        with output.working("resampling responses"):
            plausibilities = aggregate(annotated, bootstrap, seed=settings.seed, unanswered="drop")
            certainty = annotation_certainty(plausibilities, risk=chosen.risk, **shared)
        means = ("mean", "low", "high", "level_mean", "level_low", "level_high")
        examples, values = (certainty[name].values.tolist() for name in ("example", "certainty"))
        output.document["certainty"] = {
            "draws": chosen.draws,
            **{name: float(certainty[name]) for name in means if name in certainty},
            "by_example": dict(zip(examples, values, strict=True)),
        }
        shown += ["", *describe_certainty(certainty)]
    if not chosen.annotators:
        known = options.found_without_flags(loaded, "annotations.path")
        following = ("plausibly", "agreement", *(() if known else ("-a", path)), "--annotators")
        shown.append(layout.fields([("next       ", following)]))
    output.show("\n".join(shown))
