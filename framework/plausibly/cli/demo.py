"""``plausibly demo``: everything on real ratings, offline."""

from __future__ import annotations

import enum
import shlex
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from plausibly.cli import dry, layout, terminal
from plausibly.cli.output import Output

if TYPE_CHECKING:
    from plausibly.demo.study import Result

HELP = "See it work on 1,378 lung nodules that 3 or 4 radiologists rated; runs offline."
EXAMPLES = """\b
Examples:
  plausibly demo
  plausibly demo --data toy
  plausibly demo --splits 20 -o demo-out --json
"""


class Data(enum.StrEnum):
    """Data sets of the demo."""

    nodules = "nodules"
    toy = "toy"


def demo(
    output: Output,
    *,
    data: Annotated[
        Data, typer.Option("--data", help="Real ratings, or a toy whose truth is known.")
    ] = Data.nodules,
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="FOLDER", help="Where its files go.")
    ] = Path("plausibly-demo"),
    splits: Annotated[int, typer.Option("--splits", min=1, help="Random halves.")] = 100,
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="Random seed.")] = 1,
    dry_run: dry.DryRun = False,
) -> None:
    """Declare ``plausibly demo``."""
    if dry_run:
        _dry(output, data, out, splits=splits)
    else:
        _run(output, data, out, splits=splits, seed=seed)


def _dry(output: Output, data: Data, folder: Path, *, splits: int) -> None:
    from plausibly.demo.study import (
        FIGURE,
        PLAUSIBILITIES,
        PREDICTIONS,
        SETS,
        STUDY,
        VOTES,
    )

    drawn = _can_draw(data)
    about = {
        Data.nodules: "1,378 lung nodules that 3 or 4 radiologists rated; it comes with plausibly",
        Data.toy: "a toy whose truth is known, drawn by its seed",
    }
    said = {Data.nodules: [VOTES, "patients.csv"], Data.toy: [PLAUSIBILITIES]}
    names = [SETS, Path(SETS).with_suffix(".json").name, STUDY]
    names += [PREDICTIONS, *said[data], *([FIGURE] if drawn else [])]
    output.document |= {"data": data.value, "splits": splits}
    dry.show(
        output,
        read={},
        rows=[("data", about[data])],
        would=f"fit a model, and compare calibrations on {splits:,} random halves",
        write=[folder / name for name in names],
        into=folder,
    )


def _run(output: Output, data: Data, folder: Path, *, splits: int, seed: int) -> None:
    from plausibly.demo import study
    from plausibly.demo.study import (
        FIGURE,
        design,
        make_folder,
        meaning,
        write_data,
        write_result,
        write_study_file,
    )
    from plausibly.demo.subjects import load
    from plausibly.evaluation.study import Study

    drawable = _can_draw(data)
    make_folder(folder)
    with output.working("fitting a model"):
        subject = load(data.value, seed)
    inputs = write_data(subject, folder)
    edited = write_study_file(subject, folder, splits=splits, seed=seed)
    output.show(layout.fields([("data", subject.about), ("study", design(subject, splits, seed))]))
    with output.working("splits") as tick:
        result = study.run(subject, splits=splits, seed=seed, progress=tick)
    outputs = write_result(result, folder, figure=drawable)

    command = ("plausibly", "run", folder / edited)
    outputs.append(edited)
    output.document |= _document(result, data, splits, seed)
    output.document |= {
        "folder": folder,
        "written": [*outputs, *inputs],
        "next": shlex.join(map(str, command)),
    }
    paragraphs = [
        textwrap.fill(text, terminal.width(), break_on_hyphens=False, break_long_words=False)
        for text in meaning(result)
    ]
    output.show("\n".join(["", *Study(result.study).lines(), "", *paragraphs]))
    following = layout.command_line(command, indent=9)
    undrawn = "" if drawable else f"; no {FIGURE} without matplotlib (the extra plots)"
    output.show(
        layout.fields(
            [
                (
                    "written",
                    f"{folder}/: {' '.join(outputs)} + data: {' '.join(inputs)}{undrawn}",
                ),
                ("next", [f"edit {edited}, then  {following[0]}", *following[1:]]),
            ]
        )
    )


def _can_draw(data: Data) -> bool:
    """Return whether there is a figure; what the nodules need is looked for before anything else.

    The toy needs no extra: it goes without a figure.
    """
    from plausibly.demo import study
    from plausibly.demo.subjects import fitting
    from plausibly.errors import MissingExtra

    try:
        study.drawing()
        if data is Data.nodules:
            fitting()
    except MissingExtra as missing:
        if data is Data.nodules:
            missing.do += "; or plausibly demo --data toy, which needs no extra"
            raise
        return False
    return True


def _document(result: Result, data: Data, splits: int, seed: int) -> dict[str, object]:
    """Return the study as plain data."""
    import json

    from plausibly.demo import study
    from plausibly.demo.study import figures, meaning
    from plausibly.evaluation.study import METHOD, SPLIT

    subject, compared = result.subject, result.study
    methods = []
    for method in map(str, compared[METHOD].values):
        one = compared.sel({METHOD: method})
        coverage = one["aggregated_coverage"]
        methods.append(
            {
                "name": method,
                **json.loads(compared.attrs["methods"])[method],
                "aggregated_coverage": coverage.mean().item(),
                "spread": coverage.std(ddof=1).item() if splits > 1 else None,
                "voted_coverage": one["voted_coverage"].mean().item(),
                "true_coverage": (
                    one["true_coverage"].mean().item() if "true_coverage" in one else None
                ),
                "group_coverage": (
                    one["group_coverage"].mean().item() if "group_coverage" in one else None
                ),
                "set_size": one["set_size"].mean().item(),
                "vacuous_splits": int(one["vacuous"].sum()),
                "guarantee": json.loads(compared.attrs["guarantees"])[method][0],
            }
        )
    return {
        "data": data.value,
        "about": subject.about,
        "examples": len(subject),
        "labels": compared.attrs["labels"],
        "group": subject.group,
        "groups": compared.attrs.get("groups"),
        "model": subject.fitted,
        "alpha": float(study.ALPHA),
        "splits": compared.sizes[SPLIT],
        "seed": seed,
        "methods": methods,
        "one_each": (
            None if result.alone is None else figures(result.alone, study.EXPECTED).aggregated
        ),
        "meaning": meaning(result),
    }
