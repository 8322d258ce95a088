"""Words follow the figures: whatever they are, the sentences say them."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

from plausibly.demo.study import EXPECTED, VOTED, Result, meaning
from plausibly.demo.subjects import Nouns, Subject

NOUNS = Nouns(
    example="scan",
    examples="scans",
    share="a scan's readings",
    said="what readers said",
    everything="all readings",
)


def study(**figures: tuple[float, float]) -> xr.Dataset:
    """Return a study of two splits around the given means of votes and of the default."""
    spread = np.array([-0.01, 0.01])
    found = xr.Dataset(
        {
            name: (("method", "split", "alpha"), (np.array(means)[:, None] + spread)[:, :, None])
            for name, means in figures.items()
        },
        coords={"method": [VOTED, EXPECTED], "split": [0, 1], "alpha": [0.1]},
    )
    return found.assign_coords(guaranteed_level=(("method", "alpha"), [[np.nan], [0.9]]))


def result(groups: tuple[str, ...] | None = None, **figures: tuple[float, float]) -> Result:
    given = {
        "aggregated_coverage": (0.812, 0.904),
        "voted_coverage": (0.9, 0.95),
        "set_size": (1.32, 1.74),
        **figures,
    }
    found = study(**given)
    examples = [f"s{i}" for i in range(len(groups or "1234"))]
    coords: dict[str, object] = {"example": examples, "label": ["a", "b"]}
    if groups:
        coords["patient"] = ("example", list(groups))
    predictions = xr.DataArray(
        np.full((len(examples), 2), 0.5), dims=("example", "label"), coords=coords
    )
    subject = Subject(
        predictions=predictions,
        plausibilities=predictions,
        group="patient" if groups else None,
        about="",
        fitted="a model",
        nouns=NOUNS,
    )
    alone = study(aggregated_coverage=(0.7, 0.888), voted_coverage=(0, 0), set_size=(1, 1))
    return Result(
        subject=subject, study=found, alone=alone if groups else None, sets=predictions > 0
    )


def test_what_it_means() -> None:
    first, told, condition = meaning(result())
    assert first == "Aggregated coverage: the share of a scan's readings that its set contains."
    assert told == (
        "Calibrated on votes, 90% sets miss 19% of what readers said; on all readings they miss "
        "10%, for 0.4 more labels a scan. Start with expected."
    )
    assert condition == (
        "Guaranteed: on average over new scans, if scans are exchangeable. Here they are: scans "
        "are drawn independently."
    )


@pytest.mark.parametrize(
    ("sizes", "said"),
    [
        ((1.32, 1.74), "for 0.4 more labels a scan"),
        ((1.74, 1.32), "for 0.4 fewer labels a scan"),
        ((1.74, 1.78), "for as many labels a scan"),
        ((1.0, 11.5), "for 10.5 more labels a scan"),
    ],
)
def test_sizes_are_compared(sizes: tuple[float, float], said: str) -> None:
    assert f"they miss 10%, {said}." in meaning(result(set_size=sizes))[1]


def test_true_labels_are_told_where_they_are_known() -> None:
    told = meaning(result(true_coverage=(0.75, 0.92)))[1]
    assert "Of the true labels, which real data hide, they miss 25% and 8%." in told
    assert "true labels" not in meaning(result())[1]


def test_groups_are_the_condition() -> None:
    condition = meaning(result(("p1", "p1", "p2", "p3", "p3", "p4")))[2]
    assert condition == (
        "Guaranteed: on average over new scans, if scans are exchangeable. 2 of 4 patients have "
        "several, which may be alike: no patient is on two sides, and with one scan a patient "
        "expected covers 0.888. The promise is for the models of the folds: one refitted to all "
        "scans is another, to be calibrated on scans that it has not seen."
    )
