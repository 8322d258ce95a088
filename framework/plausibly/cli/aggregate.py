"""``plausibly aggregate``: annotations to plausibilities."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from plausibly.cli import asked, common, layout, values
from plausibly.cli.output import Output

SUMMARY = "Annotations to plausibilities."
HELP = "Turn expert annotations into plausibilities: a distribution over labels for each example."
EXAMPLES = """\b
Examples:
  plausibly aggregate -a votes.csv -o plausibilities.csv
  plausibly aggregate -a votes.csv --columns task=item,worker=rater,label=dx \\
    -o plausibilities.nc
  plausibly aggregate -a rankings.json --labels labels.txt -o out.npz
"""


def aggregate(
    annotations: Annotated[
        Path,
        typer.Option(
            "--annotations", "-a", metavar="FILE", help="What the experts said: every vote."
        ),
    ],
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="FILE", help="Output: .csv, .npz or .nc.")
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
        _run(output, wanted, naming, values.outputs(out, {"-a": annotations, "--labels": labels}))

    return output.run(body)


def _run(
    output: Output, asked_opinions: asked.AskedOpinions, naming: asked.Naming, out: Path
) -> None:
    from plausibly.cli import matching, reading
    from plausibly.io import write_plausibilities
    from plausibly.kernels.coverage import tie_counts
    from plausibly.labelled.left_out import read_left_out
    from plausibly.labelled.text import several

    opinions = reading.read_opinions(asked_opinions, naming, output)
    lam = opinions.plausibilities
    matching.check_renames(naming, opinions.unknown, labels=reading.label_names(lam))
    with output.working(f"writing {out.name}"):
        write_plausibilities(lam, out)

    examples, labels = lam.shape
    tied = int((tie_counts(lam.values) > 1).sum())
    unanimous = int((lam.values.max(axis=1) == 1).sum())
    left_out = read_left_out(lam.attrs)
    aggregator = opinions.aggregator or {}
    output.document |= {
        asked_opinions.what: opinions.facts,
        "aggregator": aggregator,
        "by_default": opinions.by_default,
        "examples": examples,
        "labels": reading.label_names(lam),
        "tied": tied,
        "unanimous": unanimous,
        "left_out": left_out,
        "saved": out,
    }
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
                    f"{several(examples, 'example')} x {several(labels, 'label')}; "
                    f"{layout.share(unanimous, examples)} have one certain label, "
                    f"{layout.share(tied, examples)} a tie for the first place",
                ),
                ("left out", layout.counts(left_out)),
                ("saved", f"{out} ({layout.size(out)})"),
                ("next", layout.command_line([*following, "-o", "predictor.nc"], indent=16)),
            ]
        )
    )
