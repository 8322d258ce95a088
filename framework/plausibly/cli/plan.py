"""``plausibly plan``: how many examples, annotators and draws."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from plausibly.cli import asked, common, values
from plausibly.cli.output import Output

if TYPE_CHECKING:
    import xarray as xr

HELP = """Say how far from 1 - alpha a calibration may land, by examples, draws and responses.

With a pilot (-p and -a) for your data; without one for a single draw, whatever the data.
"""
EXAMPLES = """\b
Examples:
  plausibly plan --alpha 0.1 --within 0.02
  plausibly plan -a ratings.csv -p pilot.csv --within 0.02
  plausibly plan -a ratings.csv -p pilot.csv -e patients.csv --cluster patient \\
    --n 200 --n 500 --draws 10 --draws expected
"""


def plan(
    output: Output,
    *,
    annotations: common.Annotations = None,
    plausibilities: common.Plausibilities = None,
    predictions: Annotated[
        Path | None,
        typer.Option(
            "--predictions", "-p", metavar="FILE", help="What the model said of the pilot."
        ),
    ] = None,
    examples: common.Examples = None,
    labels: common.Labels = None,
    alpha: common.Alphas = None,
    within: Annotated[
        float | None,
        typer.Option(
            "--within", metavar="WIDTH", help="How close to 1 - alpha coverage should be."
        ),
    ] = None,
    confidence: Annotated[
        float,
        typer.Option(
            "--confidence", metavar="SHARE", help="Share of calibrations that should be as close."
        ),
    ] = 0.9,
    one_sided: Annotated[
        bool, typer.Option("--one-sided", help="More coverage is as good: only less counts.")
    ] = False,
    n: Annotated[
        list[int] | None,
        typer.Option("--n", metavar="N", help="Calibration examples to look at. Repeatable."),
    ] = None,
    draws: Annotated[
        list[str] | None,
        typer.Option(
            "--draws",
            metavar="M",
            help="Draws to look at: a number, or expected. Repeatable [default: 1, 10, expected].",
        ),
    ] = None,
    responses: Annotated[
        list[int] | None,
        typer.Option(
            "--responses",
            metavar="R",
            help="Responses an example to thin -a to. Repeatable [default: up to what most have].",
        ),
    ] = None,
    cluster: Annotated[
        str | None,
        common.column("--cluster", "Column of -e, such as patient, whose examples may be alike."),
    ] = None,
    delta: Annotated[
        float,
        typer.Option(
            "--delta", metavar="DELTA", help="Of the combiners pac and ecdf: chance to fail."
        ),
    ] = 1e-4,
    resamples: Annotated[
        int,
        typer.Option("--resamples", metavar="B", help="Of the bootstrap beside it; 0 for none."),
    ] = 200,
    score: Annotated[
        str | None,
        common.component("--score", "score", "Score function [default: probability]."),
    ] = None,
    aggregator: common.Aggregator = None,
    seed: common.Seed = 0,
    only_common: common.OnlyCommon = False,
    answers: common.Answers,
    numbers: common.Numbers,
    renaming: common.Renaming,
) -> None:
    """Declare ``plausibly plan``."""
    from plausibly.calibration.alphas import read_alphas
    from plausibly.cli import layout
    from plausibly.planning.pilot import pilot_half
    from plausibly.planning.plan import plan as planned

    alphas = list(values.texts(alpha) or common.DEFAULT_ALPHAS)
    scoring = values.component(score, "--score") or "probability"
    read = _Read()
    if (annotations, plausibilities, predictions) != (None, None, None):
        opinions = asked.opinions(
            annotations,
            answers,
            plausibilities=plausibilities,
            aggregator=aggregator,
            seed=seed,
        )
        if predictions is None:
            raise pilot_half("predictions")
        model = asked.model(predictions, numbers, examples=examples)
        naming = asked.naming(labels, renaming)
        read_alphas(alphas)  # a slip is said before anything is read
        read = _read(output, opinions, model, naming, only_common=only_common)
    with output.working("planning"):
        found = planned(
            read.predictions,
            read.opinions,
            alpha=alphas,
            n=n or None,
            draws=[_draws(text) for text in values.texts(draws)] or None,
            within=within,
            confidence=confidence,
            one_sided=one_sided,
            score=scoring,
            aggregator=read.aggregator,
            responses=responses or None,
            cluster=cluster,
            delta=delta,
            resamples=resamples,
            seed=seed,
        )
    output.document |= {**read.document, **found.to_json()}
    above = layout.fields(read.shown)
    output.show("\n".join(part for part in (above, "\n".join(found.lines())) if part))


def _draws(text: str) -> int | str:
    return int(text) if text.isdecimal() else text


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Read:
    """A pilot that was read; nothing where there is none."""

    predictions: xr.DataArray | None = None
    opinions: xr.DataArray | xr.Dataset | None = None
    aggregator: dict[str, object] | None = None
    document: dict[str, object] = dataclasses.field(default_factory=dict)
    shown: list[tuple[str, str | list[str]]] = dataclasses.field(default_factory=list)


def _read(
    output: Output,
    asked_opinions: asked.AskedOpinions,
    asked_model: asked.AskedPredictions,
    naming: asked.Naming,
    *,
    only_common: bool,
) -> _Read:
    from plausibly.cli import layout, matching
    from plausibly.data.names import EXAMPLE
    from plausibly.data.select import answered, select
    from plausibly.errors import counted

    model, opinions, predictions, lam, left_out = matching.read_both(
        output, asked_opinions, asked_model, naming, only_common=only_common
    )
    table = opinions.table
    if table is not None:
        kept = set(answered(table)).intersection(predictions[EXAMPLE].values.tolist())
        table = select(table, example=sorted(kept))
    examples, labels = predictions.shape
    rows: list[tuple[str, str | list[str]]] = [
        (asked_opinions.what, opinions.text),
        ("predictions", f"{model.whose}: {counted(examples)} x {counted(labels)}"),
        ("left out", layout.counts(left_out)),
    ]
    if opinions.aggregator is not None:
        made = [("aggregator", opinions.aggregator, opinions.by_default)]
        rows.append(("chosen", layout.choices(made)))
    return _Read(
        predictions=predictions,
        opinions=lam if table is None else table,
        aggregator=None if table is None else dict(opinions.aggregator or {}),
        document={
            asked_opinions.what: opinions.facts,
            "predictions": model.facts,
            "left_out": left_out,
        },
        shown=rows,
    )
