"""The first screen's table and numbers are those that the whole demo finds."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import attrs
import pytest

from plausibly.demo import study, subjects
from plausibly.errors import PlausiblyWarning
from readme_world import indented

SPLITS, SEED = 100, 1

# Aggregated coverage and set size, computed independently on these ratings with another model fit
# and splits by nodule.
KNOWN = {
    study.VOTED: (0.857, 2.22),
    "10 drawn answers (monte-carlo)": (0.900, 2.52),
    "10 drawn, maximum": (0.913, 2.63),
    "10 drawn, ecdf": (1.0, 5.0),
    study.EXPECTED: (0.899, 2.51),
}


@pytest.mark.slow
def test_the_first_screen_is_what_the_demo_finds(project: Path) -> None:
    readme = (project / "README.md").read_text(encoding="utf-8")
    first_screen = readme.partition("\n## ")[0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PlausiblyWarning)
        found = study.run(
            subjects.load("nodules", SEED), splits=SPLITS, seed=SEED, methods=study.EVERY
        )

    short = attrs.evolve(found, study=found.study.sel({"method": list(study.METHODS)}))
    assert "\n".join(study.table(short)) in indented(first_screen)

    prose = " ".join(first_screen.split())
    voted = study.figures(found.study, study.VOTED)
    expected = study.figures(found.study, study.EXPECTED)
    numbers = re.search(
        r"On ([\d,]+) lung nodules, graded by three or four radiologists each, the "
        r"resulting (\d+)% sets contain the majority vote for (\d+)% of the nodules, but only "
        r"(\d+)% of the radiologists' answers\. Calibrated on all answers, they contain (\d+)%\.",
        prose,
    )
    assert numbers is not None
    assert [int(number.replace(",", "")) for number in numbers.groups()] == [
        len(found.subject),
        100 - round(100 * float(study.ALPHA)),
        round(100 * voted["majority_vote_coverage"]),
        round(100 * voted["aggregated_coverage"]),
        round(100 * expected["aggregated_coverage"]),
    ]

    for name, (coverage, size) in KNOWN.items():
        one = study.figures(found.study, name)
        assert one["aggregated_coverage"] == pytest.approx(coverage, abs=0.005), name
        assert one["set_size"] == pytest.approx(size, abs=0.03), name
    # The rank among one nodule of each of 172 held-out patients is a guarantee on new patients.
    ranked = found.study.sel({"method": "10 drawn, held-out-rank"})
    assert float(ranked["cluster_coverage"].mean()) == pytest.approx(156 / 173, abs=0.005)
    means = found.study["aggregated_coverage"].mean("split")[:, 0]
    below = (means < 0.98 * (1 - means["alpha"])) & found.study["guaranteed_level"][:, 0].isnull()
    assert [str(name) for name in below["method"][below].values] == [study.VOTED]
    assert bool(found.study.sel({"method": "10 drawn, ecdf"})["vacuous"].all())
