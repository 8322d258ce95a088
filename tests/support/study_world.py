"""Study files over the made world of the command line, and what is asked of them."""

from __future__ import annotations

import tomllib
from decimal import Decimal
from pathlib import Path

from plausibly.config.document import Document, parse
from plausibly.config.draft import draft
from plausibly.config.report import StudyError, located
from plausibly.config.study import Study

SMALLEST = """\
[annotations]
path = "votes.csv"
[predictions]
path = "probabilities.csv"
[[calibrations]]
"""

WHOLE = """\
seed = 1
alphas = [0.1, 0.25]

[annotations]
path = "votes.csv"
reader = "crowd-table"

[predictions]
path = "probabilities.csv"

[examples]
path = "patients.csv"

[[calibrations]]
name = "everyone"

[[calibrations]]
calibrator = "voted"

[[calibrations]]
calibrator = { name = "monte-carlo", draws = 4 }
combiner = "maximum"

[splits]
count = 6
group = "patient"

[output]
folder = "out"
"""

SIX_MISTAKES = """\
seed = 1
alphas = [0.1, 5]
[annotations]
path = "votes.csv"
raeder = "crowd-table"
[predictions]
path = "probabilities.csv"
[aggregator]
name = "inverse-rnk"
[[calibrations]]
name = "everyone"
score = { name = "probability" }
calibrator = { name = "monte-carlo", draws = "10" }
combiner = { name = "maximum", held_out = 0.5 }
[splits]
count = 100
test = 0.5
group = "patient_id"
[examples]
path = "patients.csv"
"""


def tables(text: str) -> dict[str, object]:
    """Return the tables of a study file, with decimals as typed."""
    return tomllib.loads(text, parse_float=Decimal)


def study(text: str) -> Study:
    """Return the study of a text without mistakes."""
    found = draft(tables(text))
    assert not found.mistakes
    return found.study()


def document(text: str) -> Document:
    """Return a text as the file ``study.toml``."""
    return parse(text, "study.toml")


def rows(text: str) -> list[str]:
    """Return the mistakes of a text that can be told before any file is read: a row each."""
    one = document(text)
    found = located(draft(one.tables).mistakes, one.lines)
    return [f"{'-' if row.line is None else row.line} {row.text}" for row in found]


def error(text: str) -> StudyError:
    """Return the error about a text."""
    one = document(text)
    return StudyError.about("study.toml", located(draft(one.tables).mistakes, one.lines))


def written(folder: Path) -> dict[str, bytes]:
    """Return every file of a folder, by its name."""
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}
