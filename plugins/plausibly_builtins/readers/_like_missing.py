"""Labels that look as if they said "no answer": kept as text, and said."""

from __future__ import annotations

from collections.abc import Mapping, Set

from plausibly.plugin import listed, quoted, several, warn

LIKE_MISSING = frozenset(
    {"NA", "N/A", "#N/A", "<NA>", "nan", "NaN", "NAN", "None", "NONE", "null", "NULL", "NaT"}
)
"""What programs write where there is nothing."""


def warn_like_missing(
    whose: str, said: Mapping[str, int], *, also: Set[str] = frozenset(), stacklevel: int = 6
) -> None:
    """Warn of labels that may be no labels.

    Parameters
    ----------
    whose : str
        Name of the file.
    said : mapping of str to int
        How often each label is said.
    also : set of str
        Further texts that look so in this format.
    stacklevel : int
        Of the caller's caller.

    Warns
    -----
    PlausiblyWarning
        ``labels-like-missing``.
    """
    seen = {text: count for text, count in said.items() if text in LIKE_MISSING | also}
    if not seen:
        return
    total = sum(seen.values())
    warn(
        "labels-like-missing",
        f"{whose}: {several(total, 'label')} {listed(quoted(text) for text in seen)} "
        f"{'is' if total == 1 else 'are'} kept as text",
        expected='a label name (text stays as written); is it "no answer"?',
        do=f"--missing {','.join(seen)}, if it is",
        whose=whose,
        details={"labels": seen},
        stacklevel=stacklevel,
    )
