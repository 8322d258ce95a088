"""Settings of a command: its settings file, flags and ``--set``, merged and checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from plausibly.cli import layout
from plausibly.cli.options import check_required
from plausibly.cli.output import Output
from plausibly.config.load import NAME, Draft, load as merged, split
from plausibly.config.settings import without_plugins

__all__ = ["check_required", "load", "without_plugins"]

NONE = Path("none")


def load(
    output: Output,
    config: Path | None,
    typed: Mapping[str, tuple[str, object]],
    sets: Sequence[str],
    *,
    reads: bool = True,
) -> Draft:
    """Return the settings of a command, and print which file was read."""
    from plausibly.calibration.alphas import read_alphas
    from plausibly.study.prepare import settings_file

    file = config or Path(NAME)
    document = None
    if reads and config != NONE and (config is not None or file.exists()):
        document = settings_file(file)
    if "alphas" in typed:
        read_alphas(split(typed["alphas"][1]))  # a slip is refused before anything is read
    loaded = merged(document, typed, sets)
    loaded.check()
    if document is not None:
        output.document["settings"] = str(file)
        output.show(layout.fields([("settings   ", str(file))]))
    return loaded
