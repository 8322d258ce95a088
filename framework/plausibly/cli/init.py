"""``plausibly init``: a settings file for the files of a folder, with each guess marked."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Annotated

import typer

from plausibly.cli import layout
from plausibly.cli.output import DryRun, Output, check_free, show_dry_run

HEAD = """\
# Written by plausibly init. Please check the lines marked "guess".
# Paths are relative to this file.

"""


def init(
    output: Output,
    *,
    files: Annotated[
        list[Path] | None,
        typer.Argument(metavar="FILE", help="Files to use.  [those of the working folder]"),
    ] = None,
    dry_run: DryRun = False,
) -> None:
    """Write a settings file that fits your files.

    Looks at FILES, or at those of the working folder. Each guess is marked with a comment.

    plausibly init
    plausibly init data/votes.csv data/probabilities.csv
    """
    from plausibly.atomic import replacing
    from plausibly.config.document import toml_text
    from plausibly.config.load import NAME
    from plausibly.data.names import several
    from plausibly.errors import PlausiblyWarning
    from plausibly.io.files import existing
    from plausibly.study.recognise import folder_files, recognised

    target = Path(NAME)
    check_free(target, f"edit {target}, or move it away")
    paths = [existing(path, "file") for path in files] if files else folder_files(Path())
    with output.working("reading files"), warnings.catch_warnings():
        # The commands that read the files for good warn of them.
        warnings.simplefilter("ignore", PlausiblyWarning)
        recognition = recognised(paths)
    rows: list[layout.Row] = [
        *recognition.about.items(),
        ("not used", "; ".join(recognition.unused)),
    ]
    guesses = {key: text for key, text in recognition.comments.items() if text.startswith("guess")}
    output.document |= {
        "recognised": recognition.about,
        "not_used": recognition.unused,
        "guesses": guesses,
    }
    if dry_run:
        show_dry_run(
            output, read=recognition.used, rows=rows, would=f"write {target}", write=[target]
        )
        return
    text = HEAD + toml_text(recognition.tables, lambda key: recognition.comments.get(key, ""))
    with replacing(target) as part:
        part.write_text(text, encoding="utf-8", newline="\n")
    output.document["saved"] = target
    lines = several(len(guesses), "line")
    check = f': please check the {lines} marked "guess"' if guesses else ""
    both = {"annotations", "predictions"} <= recognition.tables.keys()
    following = f"plausibly {'calibrate' if both else 'aggregate'}"
    output.rows([*rows, ("saved", f"{target}{check}"), ("next", following)])
