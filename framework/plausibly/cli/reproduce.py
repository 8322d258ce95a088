"""``plausibly reproduce``: the paper's figures, made again, with whether their claims held."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from plausibly.cli import completion, layout, options
from plausibly.cli.output import DryRun, Output, show_dry_run
from plausibly.config.load import Draft

if TYPE_CHECKING:
    from plausibly.paper.run import Reproduced


FLAGS = {"Data of your own": "-a --plausibilities -p -e --cluster --labels --reader"}
CONFIG = False  # data of a settings file are not those of the paper


def reproduce(
    output: Output,
    loaded: Draft,
    *,
    figures: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="FIGURE...", autocompletion=completion.figures, help="Names of --list, or all."
        ),
    ] = None,
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="DIR", help="Where pictures and numbers go.")
    ] = Path("plausibly-figures"),
    list_: Annotated[bool, typer.Option("--list", help="List the figures, and stop.")] = False,
    splits: Annotated[int, typer.Option("--splits", min=1, help="Random splits.")] = 100,
    form: Annotated[Literal["png", "svg"], typer.Option("--form", help="Of the pictures.")] = "png",
    alpha: Annotated[
        str | None, typer.Option("--alpha", metavar="RATE", help="Miscoverage rate of all figures.")
    ] = None,
    derm: Annotated[
        Path | None, typer.Option("--derm", metavar="DIR", help="Folder of the skin case.")
    ] = None,
    simulate: Annotated[bool, typer.Option("--simulate", help="Simulate those of --derm.")] = False,
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="Random seed.")] = 1,
    dry_run: DryRun = False,
) -> None:
    """Make figures of the paper again: for each a picture, its numbers as CSV, and whether the
    paper's claim held. Offline; needs the extra demo.

    plausibly reproduce --list
    plausibly reproduce majority-vote-undercovers monte-carlo
    plausibly reproduce all --out figures --splits 20
    plausibly reproduce procedures -a votes.csv -p probabilities.csv --alpha 0.1
    plausibly reproduce all --derm uncertain_ground_truth/data
    """
    from plausibly.data.names import several
    from plausibly.data.plausibilities import is_sparse, to_dense
    from plausibly.paper.figure import new_page
    from plausibly.paper.run import CLAIMS, ENTRIES, check_asked, reproduce as reproduced
    from plausibly.study.reading import read_both

    if list_ or not figures:
        listing = [
            {
                "name": entry.name,
                "paper": entry.paper,
                "shows": entry.shows,
                "own_data": entry.own,
                "needs_derm": entry.derm,
            }
            for entry in ENTRIES
        ]
        output.document["figures"] = listing
        lines = [f"{e.name:<27}{e.paper:<11}{e.shows}" for e in ENTRIES]
        with_data = ", ".join(entry.name for entry in ENTRIES if entry.own)
        output.show("\n".join([f"{'figure':<27}{'section':<11}shows", *lines, ""]))
        output.rows([("own data", f"with -p and -a: {with_data}")])
        return
    settings, own = loaded.settings, bool(loaded.typed)
    data: dict[str, Any] = {}  # Any: each argument has its own type
    if own:
        options.require(loaded, "reproduce", "predictions.path", "--predictions -p")
        options.check_answers(loaded)
        with output.working("reading files"):
            _, answers, predictions, plausibilities, _ = read_both(settings)
        data = {
            "predictions": predictions,
            "plausibilities": to_dense(plausibilities)
            if is_sparse(plausibilities)
            else plausibilities,
            "cluster": settings.examples.cluster,
            "name": answers.source,
        }
    if dry_run:
        entries = check_asked(figures, splits=splits, alpha=alpha, derm=derm, own=own)
        new_page(1, 1)  # raises where an extra is missing
        files = [f"{entry.name}.{end}" for entry in entries for end in (form, "csv")]
        output.document["figures"] = [{"name": e.name, "shows": e.shows} for e in entries]
        show_dry_run(
            output,
            read={**output.inputs, "--derm": derm},
            rows=[("figures", ", ".join(entry.name for entry in entries))],
            would=f"make {several(len(entries), 'figure')}, over {splits} splits each",
            write=[out / name for name in [*dict.fromkeys(files), CLAIMS]],
            into=out,
        )
        return

    def show(figure: Reproduced) -> None:
        claim = figure.claim
        rows = [(figure.name, f"held: {claim.verdict}")]
        output.rows([*rows, ("  claim", claim.says), ("  measured", claim.measured)])

    shown: dict[str, Any] = {  # Any: as above
        "splits": splits,
        "form": form,
        "alpha": alpha,
        "derm": derm,
        "simulate": simulate,
    }
    with output.working("making figures") as tick:
        made = reproduced(
            figures,
            out,
            told=show,
            progress=lambda _, done, total: tick(done, total),
            seed=seed,
            **data,
            **shown,
        )
    output.document |= {
        "folder": out,
        "figures": [
            {
                "name": figure.name,
                "paper": figure.entry.paper,
                "claim": figure.claim.says,
                "measured": figure.claim.measured,
                "held": figure.claim.held,
                "not": [part for part, held in figure.claim.parts.items() if not held],
                "files": list(figure.written),
            }
            for figure in made
        ],
        "seed": seed,
        **shown,
    }
    held = sum(figure.claim.held for figure in made)
    rows = [("held", f"{held} of {len(made)} claims")]
    rows.append(("saved", f"{out}/: a picture and a CSV each, and claims.txt"))
    output.show("\n" + layout.fields(rows))
