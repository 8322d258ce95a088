"""Plugins in memory for the tests of the registry."""

from __future__ import annotations

import pytest

from plausibly.plugin import AGGREGATOR, CALIBRATOR, COMBINER, Registrar
from registry_components import Drawn, Frequency, Least, Plugins


@pytest.fixture
def plugins(monkeypatch: pytest.MonkeyPatch) -> Plugins:
    """Two plugins of ours; tests add those of others."""
    made = Plugins(monkeypatch)

    def votes(registrar: Registrar) -> None:
        registrar.add(AGGREGATOR, "frequency", Frequency, summary="share of votes")
        registrar.add(AGGREGATOR, "smoothed", "registry_components:Smoothed")

    def calibration(registrar: Registrar) -> None:
        registrar.add(CALIBRATOR, "drawn", Drawn)
        registrar.add(CALIBRATOR, "by", "registry_components:By")
        registrar.add(COMBINER, "least", Least)

    made.add("votes", votes)
    made.add("calibration", calibration)
    return made
