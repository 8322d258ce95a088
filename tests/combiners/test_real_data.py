"""e-values on real annotations: the sizes that a study of the rule found, nearly every label."""

from __future__ import annotations

from pathlib import Path

import pytest

import plausibly
from exact_realdata import load


@pytest.mark.realdata
def test_sets_of_e_values_on_crema_d(shared: Path) -> None:
    """Six labels: 4.16 of them with 1/p (coverage .987), 5.54 with p^-.5, 2.24 by the average."""
    methods: dict[str, dict[str, object]] = {
        "average": {"calibrator": "monte-carlo"},
        "1/p": {"calibrator": "monte-carlo", "combiner": "e-value"},
        "p^-.5": {"calibrator": "monte-carlo", "combiner": {"name": "e-value", "power": 0.5}},
    }
    study = plausibly.compare(*load(shared, "crema_d"), methods, splits=5)
    means = study.isel(alpha=0).mean("split")
    sizes = means["set_size"].values.tolist()
    assert sizes == pytest.approx([2.24, 4.16, 5.54], abs=0.03)
    assert float(means["aggregated_coverage"].values[1]) == pytest.approx(0.987, abs=0.003)
