"""``plausibly aggregate``: annotations to plausibilities."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from plausibly.cli import layout, options
from plausibly.cli.output import DryRun, Output, check_path, show_dry_run
from plausibly.config.load import Draft
from plausibly.text import percent

FLAGS = {
    "Files": "-a -o --labels",
    "Format of the annotations": options.FORMAT,
    "Plausibilities": "--aggregator --form --seed",
}
KEYS = {"-o": "output.plausibilities"}
REQUIRED = "-a -o"

MANY_LABELS = 1_000  # up to here, a number for each label is written by default


def aggregate(output: Output, loaded: Draft, *, dry_run: DryRun = False) -> None:
    r"""Turn expert annotations into plausibilities: a distribution over labels for each example.

    plausibly aggregate -a votes.csv -o plausibilities.csv
    plausibly aggregate -a votes.csv -o plausibilities.nc \
      --columns example=item,annotator=rater,label=dx
    plausibly aggregate -a rankings.json --labels labels.txt -o out.npz
    plausibly aggregate -a votes.csv --aggregator bootstrap -o draws.parquet
    """
    import xarray as xr

    from plausibly.data import names
    from plausibly.data.names import several
    from plausibly.data.plausibilities import Plausibilities, to_dense, to_sparse
    from plausibly.data.states import read_left_out
    from plausibly.io import write_plausibilities
    from plausibly.io.datasets import ARRAY_ENDINGS
    from plausibly.io.plausibilities import check_output
    from plausibly.kernels.coverage import tie_counts
    from plausibly.study.reading import check_renames, read_answers

    settings, files = loaded.settings, output.inputs
    out = settings.output.plausibilities or Path()
    check_path(out, files)
    with output.working("reading files"):
        answers = read_answers(settings)
    plausibilities, label_texts = answers.plausibilities, answers.labels
    check_renames(settings.labels, answers)
    drawn, as_array = names.DRAW in plausibilities.dims, out.suffix.lower() in ARRAY_ENDINGS
    form = settings.output.form or "wide"
    if settings.output.form is None and len(label_texts) > MANY_LABELS:
        form = "long" if not as_array else "wide" if drawn else "sparse"
    if form == "sparse" and (drawn or not as_array):
        raise options.unfit(
            "--form sparse",
            "for draws" if drawn else f"in a {out.suffix} file",
            expected=f"one row per example, and the ending {' or '.join(ARRAY_ENDINGS)}",
            hint="--form wide" if drawn else f"-o {out.with_suffix('.npz')}, or --form long",
        )
    formed = plausibilities
    if isinstance(plausibilities, xr.DataArray):
        formed = to_sparse(plausibilities) if form == "sparse" else plausibilities
    elif form == "wide":
        formed = to_dense(plausibilities)
    kept: Literal["wide", "long"] = "long" if form == "long" else "wide"
    check_output(out, kept)
    if not dry_run:
        with output.working(f"writing {out.name}"):
            write_plausibilities(formed, out, form=kept)

    examples, draws = plausibilities.sizes[names.EXAMPLE], plausibilities.sizes.get(names.DRAW)
    stored = Plausibilities.of(plausibilities).stored
    tied = int((tie_counts(stored) > 1).sum())
    unanimous = int((stored.weight.max(axis=1) == 1).sum())
    shares = [percent(n / examples) if n else "none" for n in (unanimous, tied)]
    left_out = read_left_out(plausibilities.attrs)
    aggregator = answers.component or {}
    output.document |= {
        answers.what: answers.facts,
        "aggregator": aggregator,
        "by_default": answers.by_default,
        "examples": examples,
        "labels": label_texts,
        **({} if draws is None else {"draws": draws}),
        "tied": tied,
        "unanimous": unanimous,
        "left_out": left_out,
        "form": form,
        **({} if dry_run else {"saved": out}),
    }
    each = ";" if draws is None else f", {several(draws, 'draw')} of each; in their mean"
    kind = f" (the default for {answers.facts['kind']})" if answers.by_default else ""
    shape = f"{several(examples, 'example')}, {several(len(label_texts), 'label')}{each}"
    measured = f"{shares[0]} have one certain label, {shares[1]} a tie for the first place"
    rows: list[layout.Row] = [
        (answers.what, answers.text),
        ("method", f"aggregator {layout.component(aggregator)}{kind}"),
        ("plausibilities", f"{shape} {measured}"),
        ("left out", layout.counts(left_out)),
    ]
    ways = {"long": ", a row for each label that is not 0", "sparse": ", only what is not 0"}
    how = ways.get(form, "")
    if dry_run:
        would = f"write these plausibilities{how}"
        show_dry_run(output, read=files, rows=rows, would=would, write=[out])
        return
    following = ("plausibly", "calibrate", "--plausibilities", out, "-p", "PREDICTIONS")
    saved = f"{out} ({layout.size(out)}{how})"
    output.rows([*rows, ("saved", saved), ("next", (*following, "-o", "predictor.nc"))])
