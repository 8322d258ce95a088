"""How often uniform p-values are merged to alpha or less, by design: seeded, binomial margins."""

from __future__ import annotations

import numpy as np
import pytest

from combiners_designs import ALPHA, ANY, DESIGNS, EXCHANGEABLE, combiner

COUNT = 20_000
MARGIN = 4.0
"""Standard errors; a false alarm is a chance of 1 in 30,000, once for all as seeds are fixed."""


def level(name: str | dict[str, object], design: str) -> float:
    """Return the share of merged p-values at or below ALPHA."""
    p = DESIGNS[design](COUNT)
    merge = combiner(name).merge  # type: ignore[attr-defined]  # every rule here has it
    return float((merge(p) <= ALPHA + 1e-12).mean())


def margin(share: float) -> float:
    return MARGIN * float(np.sqrt(share * (1 - share) / COUNT))


@pytest.mark.parametrize("design", DESIGNS)
def test_the_designs_are_uniform(design: str) -> None:
    p = DESIGNS[design](COUNT)
    for row in p:
        for share in (0.01, 0.05, 0.1, 0.2, 0.5, 0.9):
            assert abs((row <= share).mean() - share) <= margin(share)


@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize("name", [*ANY, *EXCHANGEABLE])
def test_what_claims_a_level_keeps_it(name: str, design: str) -> None:
    assert level(name, design) <= ALPHA + margin(ALPHA)


@pytest.mark.parametrize(
    ("name", "design", "share"),
    [
        ("cauchy", "pairs", 0.199),
        ("cauchy", "Gaussian, r = 0.8", 0.113),
        ("fisher", "copies", 0.241),
        ("stouffer", "copies", 0.342),
        ("exchangeable-median", "independent", 0.100),
        ("exchangeable-average", "independent", 0.052),
        ("exchangeable-geometric", "independent", 0.060),
        ("exchangeable-average", "copies", 0.050),
        ("exchangeable-median", "copies", 0.050),
        ("exchangeable-geometric", "copies", 0.037),
    ],
)
def test_shares_that_are_known(name: str, design: str, share: float) -> None:
    assert abs(level(name, design) - share) <= margin(share) + 0.001


@pytest.mark.parametrize("name", ["cauchy", "fisher", "stouffer"])
def test_what_has_no_guarantee_needs_none_for_independent_p_values(name: str) -> None:
    assert level(name, "independent") <= ALPHA + margin(ALPHA)
    worst = max(level(name, design) for design in DESIGNS)
    assert worst > ALPHA + 10 * margin(ALPHA)
