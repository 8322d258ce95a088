"""``plausibly agreement``: how much annotators agree, who differs, and over which labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from plausibly.cli import asked, common, values
from plausibly.cli.output import Output

if TYPE_CHECKING:
    import xarray as xr

HELP = """Say how much annotators agree, beyond chance too, over which labels, and who differs.

Intervals are of resamples of the examples, or of their clusters.
"""
EXAMPLES = """\b
Examples:
  plausibly agreement -a votes.csv
  plausibly agreement -a ratings.csv --order 1,2,3,4,5
  plausibly agreement -a votes.csv --annotators
  plausibly agreement -a votes.csv -e patients.csv --by site --cluster patient
"""


def agreement(
    output: Output,
    *,
    annotations: common.RequiredAnnotations,
    examples: common.Examples = None,
    labels: common.Labels = None,
    answers: common.Format,
    annotators: Annotated[
        bool, typer.Option("--annotators", help="Who differs from the others, instead.")
    ] = False,
    order: Annotated[
        list[str] | None,
        typer.Option(
            "--order",
            metavar="LABELS",
            help="The labels from one end to the other: low,medium,high. Repeatable.",
        ),
    ] = None,
    depth: Annotated[
        int | None,
        typer.Option(
            "--depth", metavar="PLACES", help="Of rankings [default: of the longest ranking]."
        ),
    ] = None,
    by: Annotated[
        str | None,
        common.column("--by", "Column of -e: the same for each group."),
    ] = None,
    cluster: Annotated[
        str | None,
        common.column(
            "--cluster", "Column of -e, such as patient, that is resampled instead of examples."
        ),
    ] = None,
    draws: Annotated[
        int | None,
        typer.Option(
            "--draws",
            metavar="M",
            help="Resample responses, too: how certain the most plausible label is.",
        ),
    ] = None,
    risk: Annotated[
        str | None,
        common.column("--risk", "Column of --labels: how certain its level is.", of="labels"),
    ] = None,
    resamples: Annotated[
        int, typer.Option("--resamples", metavar="B", help="Behind the intervals; 0 for none.")
    ] = 1000,
    confidence: Annotated[
        float, typer.Option("--confidence", metavar="SHARE", help="Of the intervals.")
    ] = 0.95,
    seed: common.Seed = 0,
) -> None:
    """Declare ``plausibly agreement``."""
    from plausibly.annotators.agreement import agreement as measured
    from plausibly.cli import layout, reading
    from plausibly.io import read_annotations, read_examples, with_coordinates

    opinions = asked.opinions(annotations, answers, seed=seed)
    _check_draws(draws, risk)
    whose = opinions.path.name
    with output.working(f"reading {whose}"):
        table = read_annotations(opinions.path, opinions.reader, labels, **opinions.options)
        annotated: xr.Dataset = table
        facts = reading.annotation_facts(table, opinions.path)
        if examples is not None:
            annotated = with_coordinates(annotated, read_examples(examples))
    with output.working("comparing answers"):
        found = measured(
            annotated,
            order=values.texts(order) or None,
            depth=depth,
            by=by,
            cluster=cluster,
            resamples=resamples,
            confidence=confidence,
            seed=seed,
        )
    output.document |= {"annotations": facts, **found.to_json()}
    shown = [layout.fields([("annotations", reading.summary_of(table, whose))]), ""]
    shown += found.annotator_lines() if annotators else found.lines()
    if draws is not None:
        shown += ["", _certainty(output, annotated, draws, risk, cluster, confidence, seed)]
    if not annotators:
        further = ["--annotators (who differs)"]
        if by is None:
            further.append("--by COLUMN" if examples else "-e FILE --by COLUMN")
        shown += layout.fields(
            [("next", f"plausibly agreement {', '.join([*further, '--json'])}")]
        ).split("\n")
    output.show("\n".join(shown))


def _check_draws(draws: int | None, risk: str | None) -> None:
    from plausibly.errors import InputError

    if risk is not None and draws is None:
        raise InputError(
            "option-unfit",
            "--risk has no meaning without --draws",
            expected="resamples of the responses, by which levels are certain",
            got=f"--risk {risk}",
            do="--draws 100",
            whose="--risk",
        )
    if draws is not None and draws < 2:
        raise InputError(
            "draws-range",
            f"--draws {draws} show no uncertainty",
            expected="2 or more",
            got=str(draws),
            do="--draws 100",
            whose="--draws",
        )


def _certainty(
    output: Output,
    table: xr.Dataset,
    draws: int,
    risk: str | None,
    cluster: str | None,
    confidence: float,
    seed: int,
) -> str:
    from plausibly.annotators.agreement import describe_certainty
    from plausibly.annotators.certainty import annotation_certainty
    from plausibly.conformal.aggregate import aggregate

    bootstrap: dict[str, object] = {"name": "bootstrap", "draws": draws}
    with output.working("resampling responses"):
        lam = aggregate(table, bootstrap, seed=seed, unanswered="drop")
        found = annotation_certainty(
            lam,
            risk=risk,
            cluster=cluster,
            confidence=confidence,
            seed=seed,
        )
    means = ("mean", "low", "high", "level_mean", "level_low", "level_high")
    output.document["certainty"] = {
        "draws": draws,
        **{name: float(found[name]) for name in means if name in found},
        "by_example": dict(
            zip(found["example"].values.tolist(), found["certainty"].values.tolist(), strict=True)
        ),
    }
    return "\n".join(describe_certainty(found))
