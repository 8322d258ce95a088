"""``plausibly example``: small files to try the commands on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from plausibly.cli import layout
from plausibly.cli.output import DryRun, Output, check_free, show_dry_run

FILES = (
    "votes.csv",
    "probabilities.csv",
    "examples.csv",
    "new_votes.csv",
    "new_probabilities.csv",
    "new_examples.csv",
)
_ABOUT = "500 CT scans of 285 patients, each graded by three of five annotators (made up)"


def example(
    output: Output,
    *,
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="FOLDER", show_default=False, help="Where the files go.  [the working folder]"
        ),
    ] = Path(),
    dry_run: DryRun = False,
) -> None:
    """Write six small files to try the commands on.

    Votes, probabilities and patients of 300 scans to calibrate on, and of 200 new ones. No file is
    overwritten.

    plausibly example
    plausibly example tutorial
    """
    from importlib.resources import files

    from plausibly.atomic import check_writable, make_folder, replacing

    for name in FILES:
        check_free(folder / name, "plausibly example FOLDER, with a new folder")
    rows: list[layout.Row] = [("data", _ABOUT)]
    if dry_run:
        paths = [folder / name for name in FILES]
        show_dry_run(output, read={}, rows=rows, would="copy six files", write=paths, into=folder)
        return
    check_writable(folder / FILES[0], below=True)
    make_folder(folder)
    source = files("plausibly.demo") / "data" / "example"
    for name in FILES:
        with replacing(folder / name) as part:
            part.write_bytes((source / name).read_bytes())
    following = "plausibly calibrate -a votes.csv -p probabilities.csv"
    output.document |= {"folder": folder, "written": FILES, "next": following}
    if folder != Path():
        following = f"cd {folder}, then {following}"
    output.rows([*rows, ("saved", " ".join(FILES)), ("next", following)])
