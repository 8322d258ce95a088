"""``plausibly demo``: everything on real ratings, offline."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

import typer

from plausibly.cli import layout
from plausibly.cli.output import DryRun, Output, show_dry_run
from plausibly.text import wrapped

if TYPE_CHECKING:
    from plausibly.demo.study import Result


Data: TypeAlias = Literal["nodules", "toy"]

_ABOUT = {
    "nodules": "1,378 lung nodules that 3 or 4 radiologists rated; it comes with plausibly",
    "toy": "a toy whose truth is known, drawn by its seed",
}


def demo(
    output: Output,
    *,
    data: Annotated[Data, typer.Option("--data", help="Real ratings, or a toy.")] = "nodules",
    every: Annotated[bool, typer.Option("--all", help="More methods and combiners.")] = False,
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="FOLDER", help="Where its files go.")
    ] = Path("plausibly-demo"),
    splits: Annotated[int, typer.Option("--splits", min=1, help="Random halves.")] = 100,
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="Random seed.")] = 1,
    dry_run: DryRun = False,
) -> None:
    """Show the result on 1,378 lung nodules that 3 or 4 radiologists rated; runs offline.

    plausibly demo
    plausibly demo --data toy
    plausibly demo --all --splits 20 -o demo-out --json
    """
    from plausibly.atomic import make_folder
    from plausibly.demo import study
    from plausibly.demo.subjects import load
    from plausibly.evaluation.study import Study

    drawable = _can_draw(data)
    everything = study.EVERY_ORDERED if data == "nodules" else study.EVERY
    methods = everything if every else study.METHODS
    if dry_run:
        answers = [study.PLAUSIBILITIES] if data == "toy" else [study.VOTES, "patients.csv"]
        names = [study.SETS, Path(study.SETS).with_suffix(".json").name, study.STUDY]
        names += [study.PREDICTIONS, *answers, *([study.FIGURE] if drawable else [])]
        output.document |= {"data": data, "splits": splits}
        show_dry_run(
            output,
            read={},
            rows=[("data", _ABOUT[data])],
            would=f"fit a model, and compare {len(methods)} methods on {splits:,} random halves",
            write=[out / name for name in names],
            into=out,
        )
        return

    make_folder(out)
    with output.working("fitting a model"):
        subject = load(data, seed)
    inputs = study.write_data(subject, out)
    edited = study.write_study_file(subject, out, splits=splits, seed=seed, methods=methods)
    output.rows([("data", subject.about), ("study", study.design(subject, splits))])
    with output.working("splits") as tick:
        result = study.run(subject, splits=splits, seed=seed, methods=methods, progress=tick)
    outputs = [*study.write_result(result, out, figure=drawable), edited]

    command = shlex.join(["plausibly", "run", str(out / edited)])
    output.document |= _document(result, data, seed)
    output.document |= {"folder": out, "written": [*outputs, *inputs], "next": command}
    table = Study(result.study).lines() if every else study.table(result)
    meaning = wrapped(study.meaning(result), layout.columns())
    output.show("\n".join(["", *table, "", *meaning]))
    undrawn = "" if drawable else f"; no {study.FIGURE} without matplotlib (the extra plots)"
    more = "" if every else "; all methods: demo --all"
    saved = f"{out}/: {', '.join(outputs)} and data{undrawn}"
    output.rows([("saved", saved), ("next", f"{command}{more}")])


def _can_draw(data: Data) -> bool:
    """Return whether there is a figure, without which the toy goes; the nodules need more."""
    from plausibly.demo import study
    from plausibly.demo.subjects import fitting
    from plausibly.errors import MissingExtra

    try:
        study.drawing()
        if data == "nodules":
            fitting()
    except MissingExtra as missing:
        if data == "nodules":
            missing.hint += "; or plausibly demo --data toy, which needs no extra"
            raise
        return False
    return True


def _document(result: Result, data: Data, seed: int) -> dict[str, object]:
    import json

    from plausibly.cli.study import COVERAGES, means
    from plausibly.demo import study
    from plausibly.evaluation.study import METHOD, SPLIT

    subject, compared = result.subject, result.study
    guarantees = json.loads(compared.attrs["guarantees"])
    methods = [
        {
            "name": name,
            **table,
            **means(compared.sel({METHOD: name}), (*COVERAGES, "cluster_coverage", "set_size")),
            "guarantee": guarantees[name][0],
        }
        for name, table in json.loads(compared.attrs["methods"]).items()
    ]
    return {
        "data": data,
        "about": subject.about,
        "examples": len(subject),
        "labels": compared.attrs["labels"],
        "cluster": subject.cluster,
        "clusters": compared.attrs.get("clusters"),
        "model": subject.fitted,
        "alpha": float(study.ALPHA),
        "splits": compared.sizes[SPLIT],
        "seed": seed,
        "methods": methods,
        "meaning": study.meaning(result),
    }
