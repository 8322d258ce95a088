"""``plausibly evaluate``: whether the sets cover what experts say of new examples."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from plausibly.cli import asked, chunks as chunking, common, values
from plausibly.cli.output import CheckFailed, Output

if TYPE_CHECKING:
    import xarray as xr

HELP = "Measure whether prediction sets cover what experts say, how large they are, where weak."
EXAMPLES = """\b
Examples:
  plausibly evaluate sets.csv -a new_votes.csv
  plausibly evaluate sets.csv -a new_votes.csv -e patients.csv --by site \\
    --cluster patient
  plausibly evaluate sets.csv -a new_votes.csv --strata size --strata label
  plausibly evaluate sets.csv -a new_votes.csv -p new.csv \\
    --predictor predictor.nc
  plausibly evaluate sets.csv -a new_votes.csv --fail-under .89 --json
"""

_SLACK = 1e-9  # a mean of tenths is a tenth, whatever its last bit says


def evaluate(
    output: Output,
    *,
    sets: Annotated[Path, typer.Argument(metavar="SETS", help="What plausibly predict wrote.")],
    annotations: common.Annotations = None,
    plausibilities: common.Plausibilities = None,
    examples: common.Examples = None,
    labels: common.Labels = None,
    by: Annotated[
        list[str] | None,
        common.column(
            "--by",
            "Report each group of this column of -e too. Repeatable: then their crossings, "
            "the weakest first.",
        ),
    ] = None,
    at_least: Annotated[
        int,
        typer.Option("--at-least", help="Leave out smaller crossings of several --by.", min=1),
    ] = 20,
    strata: Annotated[
        list[common.Strata] | None,
        typer.Option(
            "--strata",
            metavar="entropy|size|label",
            help="Report by ambiguity, by size of the set, or by label too. Repeatable.",
        ),
    ] = None,
    risk: Annotated[
        str | None,
        common.column(
            "--risk",
            "Column of --labels with their risk: report what each level misses.",
            of="labels",
        ),
    ] = None,
    predictions: Annotated[
        Path | None,
        typer.Option(
            "--predictions",
            "-p",
            metavar="FILE",
            help="What SETS were predicted from: report where the model is in doubt, and the "
            "worst slab.",
        ),
    ] = None,
    predictor: Annotated[
        Path | None,
        typer.Option(
            "--predictor",
            metavar="FILE",
            help="What predicted SETS, beside -p: report whether its p-values are uniform.",
        ),
    ] = None,
    true: Annotated[
        str | None,
        common.column("--true", "Column of -e with a known label."),
    ] = None,
    cluster: Annotated[
        str | None,
        common.column(
            "--cluster", "Column of -e, such as patient: intervals count these, not examples."
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
    answers: common.Answers,
    numbers: common.Numbers,
    renaming: common.Renaming,
    chunked: chunking.Chunking,
) -> None:
    """Declare ``plausibly evaluate``."""
    with chunking.computing(chunked):
        _run(
            output,
            sets,
            chunked.chunks,
            examples,
            asked.opinions(
                annotations,
                answers,
                plausibilities=plausibilities,
                aggregator=aggregator,
                seed=seed,
            ),
            asked.naming(labels, renaming),
            asked.Measure(
                by=tuple(by or ()),
                at_least=at_least,
                strata=tuple(kind.value for kind in strata or ()),
                risk=risk,
                model=asked.model_of_sets(predictions, numbers),
                predictor=predictor,
                true=true,
                cluster=cluster,
                ties=ties.value,
                interval=interval.value,
                seed=seed,
                only_common=only_common,
                fail_under=values.share(fail_under, "--fail-under"),
            ),
        )


def _run(
    output: Output,
    path: Path,
    chunks: int | None,
    examples: Path | None,
    asked_opinions: asked.AskedOpinions,
    naming: asked.Naming,
    measure: asked.Measure,
) -> None:
    import warnings

    from plausibly.cli import evaluate_parts, layout, matching, reading
    from plausibly.errors import PlausiblyWarning
    from plausibly.evaluation.evaluate import evaluate as evaluated
    from plausibly.evaluation.inputs import check_ties
    from plausibly.evaluation.intervals import METHODS
    from plausibly.io import read_examples, read_sets, with_coordinates

    with output.working(f"reading {path.name}"):
        sets = read_sets(path, chunks=chunks)
        if examples is not None:
            sets = with_coordinates(sets, read_examples(examples))
    with reading.told_of_swaps(asked_opinions, measure.model):
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
    predictions, predictor = evaluate_parts.read_for_parts(measure, naming, output)
    interval = next(method for method in METHODS if method == measure.interval)
    with output.working("evaluating") as tick, chunking.counting(chunks, tick):
        evaluation = evaluated(
            sets,
            lam,
            ties=check_ties(measure.ties),
            true=measure.true,
            by=measure.by[0] if len(measure.by) == 1 else None,
            cluster=measure.cluster,
            interval=interval,
            seed=measure.seed,
        )
        with warnings.catch_warnings():
            # What is to be said of the sets has been said.
            warnings.simplefilter("ignore", PlausiblyWarning)
            further = evaluate_parts.parts(
                evaluate_parts.Judged(
                    sets=sets,
                    plausibilities=lam,
                    predictions=predictions,
                    predictor=predictor,
                    naming=naming,
                    measure=measure,
                    confidence=float(evaluation.data.attrs["confidence"]),
                    interval=interval,
                )
            )
    output.document |= {
        "sets": path,
        asked_opinions.what: opinions.facts,
        "aggregator": opinions.aggregator,
        **evaluation.to_json(),
        **{part.name: {**part.about, "rows": part.rows} for part in further},
        "left_out": left_out,
    }
    judged = [(asked_opinions.what, opinions.text)]
    if opinions.aggregator is not None:
        made = [("aggregator", opinions.aggregator, opinions.by_default)]
        judged.append(("chosen", layout.choices(made)))
    judged.append(("left out", layout.counts(left_out)))
    blocks = [
        "\n".join(evaluation.lines()),
        *(part.text for part in further),
        layout.fields(judged),
    ]
    output.show(("\n\n" if further else "\n").join(blocks))
    _check(evaluation.data, measure.fail_under, path.name)


def _check(evaluation: xr.Dataset, fail_under: float | None, whose: str) -> None:
    """Raise `CheckFailed` where the aggregated coverage is too low at any alpha."""
    if fail_under is None:
        return
    from plausibly.data.names import ALPHA
    from plausibly.evaluation.result import decimal, ends

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
                got=f"{mean:.5g}, interval {ends(low, high)}",
                do="calibrate again on recent data, or look for weak groups with --by",
                whose=whose,
                details={"alpha": float(alpha), "mean": mean, "low": low, "high": high},
            )
