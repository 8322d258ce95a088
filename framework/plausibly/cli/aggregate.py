"""``plausibly aggregate``: annotations to plausibilities."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from plausibly.cli import asked, common, layout, values
from plausibly.cli.output import Output

HELP = "Turn expert annotations into plausibilities: a distribution over labels for each example."
EXAMPLES = """\b
Examples:
  plausibly aggregate -a votes.csv -o plausibilities.csv
  plausibly aggregate -a votes.csv --columns task=item,worker=rater,label=dx \\
    -o plausibilities.nc
  plausibly aggregate -a rankings.json --labels labels.txt -o out.npz
  plausibly aggregate -a votes.csv --aggregator bootstrap -o draws.parquet
"""


def aggregate(
    annotations: Annotated[
        Path,
        typer.Option(
            "--annotations", "-a", metavar="FILE", help="What the experts said: every vote."
        ),
    ],
    out: Annotated[
        Path,
        typer.Option("--out", "-o", metavar="FILE", help="Output: .csv, .parquet, .npz or .nc."),
    ],
    reader: common.Reader = None,
    columns: common.Columns = None,
    kind: common.AnswerKind = None,
    missing: common.Missing = None,
    labels: common.Labels = None,
    strip: common.Strip = False,
    rename: common.Rename = None,
    unanswered: common.UnansweredPolicy = None,
    aggregator: common.Aggregator = None,
    form: Annotated[
        common.Form,
        typer.Option(
            "--form", help="Of .csv and .parquet: wide has a column a label, long a row a label."
        ),
    ] = common.Form.wide,
    seed: common.Seed = 0,
    json: common.AsJson = False,
    quiet: common.Quiet = False,
    strict: common.Strict = False,
    debug: common.Debug = False,
) -> int:
    """Declare ``plausibly aggregate``."""
    output = Output("aggregate", json=json, quiet=quiet, strict=strict, debug=debug)

    def body() -> None:
        wanted = asked.opinions(
            annotations,
            reader=reader,
            columns=columns,
            kind=kind,
            missing=missing,
            unanswered=unanswered,
            aggregator=aggregator,
            seed=seed,
        )
        naming = asked.naming(labels, strip=strip, rename=rename)
        to = values.outputs(out, {"-a": annotations, "--labels": labels})
        _run(output, wanted, naming, to, form)

    return output.run(body)


def _run(
    output: Output,
    asked_opinions: asked.AskedOpinions,
    naming: asked.Naming,
    out: Path,
    form: common.Form,
) -> None:
    from plausibly.cli import matching, reading
    from plausibly.io import write_plausibilities
    from plausibly.kernels.coverage import tie_counts
    from plausibly.labelled import names
    from plausibly.labelled.borders import mean_over_draws
    from plausibly.labelled.left_out import read_left_out
    from plausibly.labelled.text import several

    opinions = reading.read_opinions(asked_opinions, naming, output)
    lam = opinions.plausibilities
    matching.check_renames(naming, opinions.unknown, labels=reading.label_names(lam))
    with output.working(f"writing {out.name}"):
        write_plausibilities(lam, out, form="long" if form is common.Form.long else "wide")

    mean = mean_over_draws(lam).values
    examples, labels = mean.shape
    draws = lam.sizes.get(names.DRAW)
    tied = int((tie_counts(mean) > 1).sum())
    unanimous = int((mean.max(axis=1) == 1).sum())
    left_out = read_left_out(lam.attrs)
    aggregator = opinions.aggregator or {}
    output.document |= {
        asked_opinions.what: opinions.facts,
        "aggregator": aggregator,
        "by_default": opinions.by_default,
        "examples": examples,
        "labels": reading.label_names(lam),
        **({} if draws is None else {"draws": draws}),
        "tied": tied,
        "unanimous": unanimous,
        "left_out": left_out,
        "saved": out,
    }
    drawn = "" if draws is None else f", {several(draws, 'draw')} of each; in their mean"
    kind = f"the default for {opinions.facts['kind']}" if opinions.by_default else ""
    chosen = f"aggregator {layout.component(aggregator)}" + (f" ({kind})" if kind else "")
    following = ["plausibly", "calibrate", "--plausibilities", out, "-p", "PREDICTIONS"]
    output.show(
        layout.fields(
            [
                (asked_opinions.what, opinions.text),
                ("chosen", chosen),
                (
                    "plausibilities",
                    f"{several(examples, 'example')} x {several(labels, 'label')}"
                    f"{drawn or ';'} {_share(unanimous, examples)} have one certain label, "
                    f"{_share(tied, examples)} a tie for the first place",
                ),
                ("left out", layout.counts(left_out)),
                ("saved", f"{out} ({layout.size(out)})"),
                ("next", layout.command_line([*following, "-o", "predictor.nc"], indent=16)),
            ]
        )
    )


def _share(part: int, whole: int) -> str:
    """Return a share as a sentence says it."""
    return layout.share(part, whole) if part else "none"
