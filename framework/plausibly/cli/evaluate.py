"""``plausibly evaluate``: whether the sets cover what experts say of new examples."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from plausibly.cli import asked, common, values
from plausibly.cli.output import CheckFailed, Output

if TYPE_CHECKING:
    import xarray as xr

SUMMARY = "Prediction sets against new votes."
HELP = "Measure whether prediction sets cover what experts say, how large they are, where weak."
EXAMPLES = """\b
Examples:
  plausibly evaluate sets.csv -a new_votes.csv
  plausibly evaluate sets.csv -a new_votes.csv -e patients.csv --by site \\
    --cluster patient
  plausibly evaluate sets.csv -a new_votes.csv --fail-under .89 --json
"""

_SLACK = 1e-9  # a mean of tenths is a tenth, whatever its last bit says


def evaluate(
    sets: Annotated[Path, typer.Argument(metavar="SETS", help="What plausibly predict wrote.")],
    annotations: common.Annotations = None,
    plausibilities: common.Plausibilities = None,
    examples: common.Examples = None,
    labels: common.Labels = None,
    by: Annotated[
        str | None,
        typer.Option("--by", metavar="COLUMN", help="Report each group of this column of -e too."),
    ] = None,
    true: Annotated[
        str | None,
        typer.Option("--true", metavar="COLUMN", help="Column of -e with a known label."),
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option(
            "--cluster",
            metavar="COLUMN",
            help="Column of -e, such as patient: intervals count these, not examples.",
        ),
    ] = None,
    ties: Annotated[
        common.Ties, typer.Option("--ties", help="What covers a vote that is tied.")
    ] = common.Ties.first,
    interval: Annotated[
        common.Interval, typer.Option("--interval", help="How intervals are made.")
    ] = common.Interval.auto,
    fail_under: Annotated[
        str | None,
        typer.Option(
            "--fail-under",
            metavar="SHARE",
            help="Exit 3 if the aggregated coverage is lower, at any alpha of SETS.",
        ),
    ] = None,
    aggregator: common.Aggregator = None,
    seed: common.Seed = 0,
    only_common: common.OnlyCommon = False,
    reader: common.Reader = None,
    columns: common.Columns = None,
    kind: common.AnswerKind = None,
    missing: common.Missing = None,
    unanswered: common.UnansweredPolicy = None,
    strip: common.Strip = False,
    rename: common.Rename = None,
    json: common.AsJson = False,
    quiet: common.Quiet = False,
    strict: common.Strict = False,
    debug: common.Debug = False,
) -> int:
    """Declare ``plausibly evaluate``."""
    output = Output("evaluate", json=json, quiet=quiet, strict=strict, debug=debug)

    def body() -> None:
        _run(
            output,
            sets,
            examples,
            asked.opinions(
                annotations,
                plausibilities=plausibilities,
                reader=reader,
                columns=columns,
                kind=kind,
                missing=missing,
                unanswered=unanswered,
                aggregator=aggregator,
                seed=seed,
            ),
            asked.naming(labels, strip=strip, rename=rename),
            asked.Measure(
                by=by,
                true=true,
                cluster=cluster,
                ties=ties.value,
                interval=interval.value,
                seed=seed,
                only_common=only_common,
                fail_under=values.share(fail_under, "--fail-under"),
            ),
        )

    return output.run(body)


def _run(
    output: Output,
    path: Path,
    examples: Path | None,
    asked_opinions: asked.AskedOpinions,
    naming: asked.Naming,
    measure: asked.Measure,
) -> None:
    from plausibly.cli import layout, matching, reading
    from plausibly.evaluation.describe import as_json, describe
    from plausibly.evaluation.evaluate import evaluate as evaluated
    from plausibly.evaluation.inputs import check_ties
    from plausibly.evaluation.intervals import METHODS
    from plausibly.io import read_examples, read_sets, with_coordinates

    with output.working(f"reading {path.name}"):
        sets = read_sets(path)
        if examples is not None:
            sets = with_coordinates(sets, read_examples(examples))
    opinions = reading.read_opinions(
        asked_opinions, naming, output, declared=reading.label_names(sets)
    )
    matching.check_renames(naming, opinions.unknown, labels=reading.label_names(sets))
    sets, lam, left_out = matching.matched(
        sets,
        opinions,
        whose=path.name,
        only_common=measure.only_common,
        declared=naming.labels is not None,
    )
    with output.working("evaluating"):
        evaluation = evaluated(
            sets,
            lam,
            ties=check_ties(measure.ties),
            true=measure.true,
            by=measure.by,
            cluster=measure.cluster,
            interval=next(method for method in METHODS if method == measure.interval),
            seed=measure.seed,
        )
    output.document |= {
        "sets": path,
        asked_opinions.what: opinions.facts,
        "aggregator": opinions.aggregator,
        **as_json(evaluation),
        "left_out": left_out,
    }
    judged = [(asked_opinions.what, opinions.text)]
    if opinions.aggregator is not None:
        made = [("aggregator", opinions.aggregator, opinions.by_default)]
        judged.append(("chosen", layout.choices(made)))
    judged.append(("left out", layout.counts(left_out)))
    output.show(f"{describe(evaluation)}\n{layout.fields(judged)}")
    _check(evaluation, measure.fail_under, path.name)


def _check(evaluation: xr.Dataset, fail_under: float | None, whose: str) -> None:
    """Raise `CheckFailed` where the aggregated coverage is too low at any alpha."""
    if fail_under is None:
        return
    from plausibly.evaluation.describe import decimal
    from plausibly.labelled.names import ALPHA

    whole = evaluation if ALPHA in evaluation.dims else evaluation.expand_dims(ALPHA)
    for alpha in whole[ALPHA].values:
        mean, low, high = (
            float(whole[f"aggregated_coverage_{end}"].sel({ALPHA: alpha}))
            for end in ("mean", "low", "high")
        )
        if mean < fail_under - _SLACK:
            raise CheckFailed(
                "coverage-below",
                f"{whose}: at alpha {alpha:g} the sets cover {decimal(mean)} of what experts said",
                expected=f"{fail_under:g} or more (--fail-under)",
                got=f"{mean:.5g}, interval {decimal(low)} to {decimal(high)}",
                do="calibrate again on recent data, or look for weak groups with --by",
                whose=whose,
                details={"alpha": float(alpha), "mean": mean, "low": low, "high": high},
            )
