"""Where the results of a study go, and what its report shows: tables of a study file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import attrs


@attrs.frozen(kw_only=True)
class Report:
    """What the report of the study shows besides its figures.

    Attributes
    ----------
    title : str or None
        Heading; None: made from the names of the files.
    words : mapping of str to str, or None
        What to call an example and an annotator: ``{example = "nodule"}``.
    text : str or None
        Coordinate of the examples with a text to show.
    thumbnail : str or None
        Coordinate of the examples with the path of a small picture, from their table on.
    annotator_names : bool
        Whether annotators appear under their own names instead of r01, r02, ...
    """

    title: str | None = None
    words: Mapping[str, str] | None = None
    text: str | None = None
    thumbnail: str | None = None
    annotator_names: bool = False


@attrs.frozen(kw_only=True)
class Output:
    """Where the results go.

    Attributes
    ----------
    folder : Path
        It is made where it is not there.
    """

    folder: Path = Path("plausibly-out")
