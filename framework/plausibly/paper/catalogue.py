"""The figures in the order of the paper: their names, what they show, and where they are made."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING

import attrs

from plausibly.errors import InputError, listed

if TYPE_CHECKING:
    from plausibly.paper.asked import Reproduction

ALL = "all"


@attrs.frozen(kw_only=True)
class Entry:
    """A figure by name.

    Attributes
    ----------
    name : str
        Of the figure, its files, and its line.
    paper : str
        Section of the paper in which it stands; letters are appendices.
    shows : str
        What it shows, in a few words.
    home : str
        Module and object of `plausibly.paper` that make it.
    own : bool
        Whether it can also be made from data of a user.
    derm : bool
        Whether it needs the folder of the skin case.
    """

    name: str
    paper: str
    shows: str
    home: str
    own: bool = False
    derm: bool = False

    def load(self) -> Reproduction:
        """Return what makes the figure."""
        module, _, name = self.home.partition(":")
        made: Reproduction = getattr(import_module(f"plausibly.paper.{module}"), name)
        return made


ENTRIES: tuple[Entry, ...] = (
    Entry(
        name="toy",
        paper="2.1",
        shows="the toy, scores and p-values of two points",
        home="illustration:TOY",
    ),
    Entry(
        name="voted-undercovers",
        paper="2.2",
        shows="calibrated on votes, true labels are missed",
        home="gap:VOTED",
        own=True,
    ),
    Entry(
        name="monte-carlo",
        paper="3.2",
        shows="calibrated on drawn labels, the gap closes",
        home="gap:MONTE_CARLO",
        own=True,
    ),
    Entry(
        name="variability",
        paper="3.2",
        shows="spread over drawn labels, m, calibration size",
        home="variability:TOY",
        own=True,
    ),
    Entry(
        name="ecdf",
        paper="3.4",
        shows="averaged and corrected p-values, with the band",
        home="ecdf:P_VALUES",
    ),
    Entry(
        name="ecdf-coverage",
        paper="3.4",
        shows="coverage with and without the correction",
        home="ecdf:COVERAGE",
    ),
    Entry(
        name="realised",
        paper="4.1 and C",
        shows="coverage example by example, with ties",
        home="realised:REALISED",
        own=True,
    ),
    Entry(
        name="coverage",
        paper="4.1",
        shows="coverage and set size by calibration",
        home="casestudy:CASE_STUDY",
        own=True,
    ),
    Entry(
        name="examples",
        paper="4.1 and C",
        shows="plausibilities of examples against their sets",
        home="bars:BARS",
        own=True,
    ),
    Entry(
        name="multi-label",
        paper="4.2",
        shows="overlaid digits, covered in part or wholly",
        home="overlaid:MULTI_LABEL",
    ),
    Entry(
        name="augmentation",
        paper="4.3",
        shows="calibrated on augmented images too",
        home="augmented:AUGMENTATION",
    ),
    Entry(
        name="naive-quantile",
        paper="C",
        shows="the standard quantile on drawn labels",
        home="naive:NAIVE",
        own=True,
    ),
    Entry(
        name="p-values",
        paper="C",
        shows="p-values of voted, drawn and true labels",
        home="uniformity:UNIFORMITY",
        own=True,
    ),
    Entry(
        name="procedures",
        paper="3.5",
        shows="the table of procedures, measured",
        home="procedures:TABLE",
        own=True,
    ),
    *(
        Entry(name=f"derm-{name}", paper=paper, shows=f"skin: {shows}", home=home, derm=True)
        for name, paper, shows, home in (
            ("realised", "4.1 and C", "coverage case by case", "realised:REALISED"),
            ("coverage", "4.1", "coverage and set size", "casestudy:CASE_STUDY"),
            ("examples", "4.1 and C", "plausibilities and sets", "bars:BARS"),
            ("variability", "C", "spread over m", "variability:SKIN"),
            ("naive-quantile", "C", "the standard quantile", "naive:NAIVE"),
            ("p-values", "C", "p-values by calibration", "uniformity:UNIFORMITY"),
            ("coverage-strict", "C", "coverage at alpha 0.1", "casestudy:STRICT"),
            ("examples-strict", "C", "sets at alpha 0.1", "bars:STRICT"),
        )
    ),
)


def chosen(figures: str | Sequence[str], *, derm: bool = False, own: bool = False) -> list[Entry]:
    """Return the figures that are asked for.

    Parameters
    ----------
    figures : str or sequence of str
        Names, or ``"all"``: all that can be made.
    derm : bool
        Whether there is a folder of the skin case.
    own : bool
        Whether there are data of a user, to which not all figures apply.

    Raises
    ------
    InputError
        ``figure-unknown``, ``figure-derm`` or ``figure-own``.
    """
    asked = [figures] if isinstance(figures, str) else list(figures)
    known = {entry.name: entry for entry in ENTRIES}
    found: list[Entry] = []
    for name in asked:
        if name == ALL:
            found += [entry for entry in ENTRIES if (entry.own or not own) and (entry.derm <= derm)]
            continue
        if name not in known:
            raise _unknown(name, list(known))
        entry = known[name]
        if entry.derm and not derm:
            raise InputError(
                "figure-derm",
                f"figure {name} needs the folder of the skin case",
                expected="its annotations and predictions, which are public",
                do=f"plausibly reproduce {name} --derm FOLDER",
                whose=name,
            )
        if own and not entry.own:
            raise InputError(
                "figure-own",
                f"figure {name} has data of its own",
                expected=f"one of {listed((e.name for e in ENTRIES if e.own), most=20)}",
                got="predictions of yours",
                do="leave your data out, or name one of these",
                whose=name,
            )
        found.append(entry)
    return list(dict.fromkeys(found))


def _unknown(name: str, known: list[str]) -> InputError:
    import difflib

    close = difflib.get_close_matches(name, known, n=1)
    return InputError(
        "figure-unknown",
        f'there is no figure "{name}"',
        expected="a figure of plausibly reproduce --list, or all",
        got=name,
        do=f'did you mean "{close[0]}"?' if close else "plausibly reproduce --list",
        whose=name,
    )
