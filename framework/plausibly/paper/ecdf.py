"""Section 3.4: averaged p-values are not uniform; corrected by their empirical distribution, yes.

Two figures: p-values of simulated dependent tests, before and after the correction, and what the
correction does to coverage on the toy.
"""

from __future__ import annotations

import math

import attrs
import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly.data import names
from plausibly.evaluation.design import MethodTable
from plausibly.kernels.random import Keys, hash_names
from plausibly.palette import GREY, INK
from plausibly.paper import page, splitting
from plausibly.paper.data import toy_data
from plausibly.paper.page import Asked, Claim, Drawing, close, decimal, mean_spread

COUNT = 10_000
TESTS = 10
DELTA = 1e-4
LEVELS = 201
LEVEL, TEST, PART = "level", "test", "part"

ALPHA = "0.05"
POINTS = 20_000
TRUE = "true labels"
METHODS: dict[str, MethodTable] = {
    "Monte Carlo": {"calibrator": "monte-carlo", "draws": splitting.DRAWS},
    "ECDF, band as in Algorithm 2": {
        "calibrator": "monte-carlo",
        "draws": splitting.DRAWS,
        "combiner": "ecdf",
    },
    "held-out rank (no band)": {
        "calibrator": "monte-carlo",
        "draws": splitting.DRAWS,
        "combiner": "held-out-rank",
    },
}
_MONTE_CARLO, _BAND, _RANK = METHODS


@attrs.frozen(kw_only=True)
class PValues:
    """Averages of dependent p-values, and the same after the correction."""

    def measure(self, asked: Asked) -> xr.Dataset:
        """Return p-values of `COUNT` tests, and how often they are at most each level."""
        hashes = hash_names(f"p{i}" for i in range(2 * COUNT))
        uniform = Keys(asked.seed, "reproduce/ecdf").uniform(hashes, TESTS)
        averaged = np.concatenate([uniform, uniform], axis=1).mean(axis=1)
        held, tested = averaged[:COUNT], averaged[COUNT:]
        corrected = np.searchsorted(np.sort(held), tested, side="right") / COUNT
        levels = np.linspace(0, 1, LEVELS)
        return xr.Dataset(
            {
                "averaged": (TEST, tested),
                "corrected": (TEST, corrected),
                "averaged_level": (LEVEL, _level(tested, levels)),
                "corrected_level": (LEVEL, _level(corrected, levels)),
                "band": ((), math.sqrt(math.log(2 / DELTA) / (2 * COUNT))),
            },
            coords={TEST: np.arange(COUNT), LEVEL: levels},
            attrs={
                "data": "simulated p-values",
                "about": f"{COUNT:,} averages of {2 * TESTS} dependent p-values, empirical "
                f"distribution of {COUNT:,} others",
                "seed": asked.seed,
            },
        )

    def draw(self, numbers: xr.Dataset) -> Drawing:
        """Return both distributions, and levels that are reached against levels that are asked."""
        drawn = page.new_page(9, 4)
        first, second = drawn.subplots(1, 2)
        edges = np.linspace(0, 1, 41)
        for name, look in (("averaged", page.VOTED), ("corrected", page.AGGREGATED)):
            page.histogram(first, numbers[name].values, edges, look, name)
        first.axhline(COUNT / 40, color=INK, linestyle=(0, (4, 2)), linewidth=1.2, label="uniform")
        page.tidy(first, x="p-value", y="tests", title="distribution")
        page.legend(first, place="upper left")
        levels, band = numbers[LEVEL].values, float(numbers["band"])
        for name, look in (("averaged", page.VOTED), ("corrected", page.AGGREGATED)):
            second.plot(
                levels,
                numbers[f"{name}_level"].values,
                color=look.colour,
                linestyle=look.line,
                label=name,
            )
        second.fill_between(
            levels,
            np.maximum(levels - band, 0),
            np.minimum(levels + band, 1),
            color=GREY,
            alpha=0.35,
            linewidth=0,
            label=f"band, delta {DELTA:g}",
        )
        page.tidy(
            second,
            x="level asked for (alpha)",
            y="share of p-values at most alpha",
            title="level that is reached",
            grid="both",
        )
        second.set(xlim=(0, 1), ylim=(0, 1))
        page.legend(second, place="upper left")
        return page.finish(drawn, "Averaged p-values, and their empirical correction", numbers)

    def claim(self, numbers: xr.Dataset) -> Claim:
        """Return whether only the corrected p-values are uniform, to the band."""
        levels, band = numbers[LEVEL], float(numbers["band"])
        off = {
            name: float(abs(numbers[f"{name}_level"] - levels).max())
            for name in ("averaged", "corrected")
        }
        return Claim(
            says="averages of dependent p-values are not uniform; corrected by an empirical "
            f"distribution they are, to the band of delta {DELTA:g}",
            measured=f"largest distance from uniform: averaged {decimal(off['averaged'])}, "
            f"corrected {decimal(off['corrected'])}, band {decimal(band)}",
            parts={
                "averages off uniform": off["averaged"] > band,
                "corrected within the band": off["corrected"] <= band,
            },
        )


@attrs.frozen(kw_only=True)
class Coverage:
    """Aggregated coverage with and without the correction, beside calibration on true labels."""

    def measure(self, asked: Asked) -> xr.Dataset:
        """Return aggregated coverage and set size, (method, split)."""
        data = toy_data(POINTS, asked.seed)
        alpha = asked.alpha or ALPHA
        study = splitting.compared(data, METHODS, asked, alpha)
        found = []
        for number in range(asked.splits):
            rows = splitting.one_split(data, asked.seed, number)
            predictor = splitting.calibrated(
                data, ~rows, {"calibrator": "voted"}, seed=asked.seed, lam=data.sure
            )
            found.append(splitting.measured(predictor, data, rows, alpha))
        known = {
            "aggregated_coverage": [one.aggregated for one in found],
            "set_size": [one.size for one in found],
        }
        kept = study[list(known)]
        first = xr.Dataset(
            {name: (("method", "split"), [values]) for name, values in known.items()},
            coords={"method": [TRUE], "split": study["split"]},
        )
        return xr.concat([first, kept], dim="method", join="exact").assign_attrs(study.attrs)

    def draw(self, numbers: xr.Dataset) -> Drawing:
        """Return a histogram a method, one above the other."""
        methods = [str(name) for name in numbers["method"].values]
        drawn = page.new_page(8, 6)
        panels = drawn.subplots(len(methods), 1, sharex=True, sharey=True)
        every = numbers["aggregated_coverage"].values
        wanted = 1 - numbers.attrs[names.ALPHA]
        edges = page.edges([every, np.array([wanted])], bins=60)
        for panel, method, look in zip(panels, methods, page.OTHERS, strict=False):
            values = numbers["aggregated_coverage"].sel({"method": method}).values
            page.histogram(panel, values, edges, look, f"{method}, {mean_spread(values)}")
            page.target(panel, wanted)
            page.tidy(panel, x="", y="splits")
            page.legend(panel, place="upper right")
        page.headroom(panels[0], 0.45)
        panels[-1].set_xlabel("aggregated coverage of the test examples of a split (share)")
        return page.finish(drawn, "The ECDF correction, with and without its band", numbers)

    def claim(self, numbers: xr.Dataset) -> Claim:
        """Return whether the correction leaves coverage where it is and adds spread."""
        wanted = 1 - numbers.attrs[names.ALPHA]
        by_method = numbers["aggregated_coverage"]
        values = {
            str(name): by_method.sel({"method": name}).values for name in by_method["method"].values
        }
        plain, band, rank = (values[name] for name in (_MONTE_CARLO, _BAND, _RANK))
        return Claim(
            says=f"with the ECDF correction of Algorithm 2 coverage is {wanted:g} as without it, "
            "with more spread over splits",
            measured=f"true labels {mean_spread(values[TRUE])}, Monte Carlo {mean_spread(plain)}, "
            f"with the correction and its band {mean_spread(band)}, without the band "
            f"{mean_spread(rank)}",
            parts={
                f"Monte Carlo at {wanted:g}": close(float(plain.mean()), wanted),
                f"Algorithm 2 at {wanted:g}": close(float(band.mean()), wanted),
                "more spread": float(band.std()) > float(plain.std()),
            },
        )


P_VALUES = PValues()
COVERAGE = Coverage()


def _level(p: NDArray[np.float64], levels: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return which share of p-values is at most each level."""
    return np.searchsorted(np.sort(p), levels, side="right") / len(p)
