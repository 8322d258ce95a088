"""One example in a service: rows, labelled rows, and how long imports take.

Run it with ``python benchmarks/service.py`` on a machine that does nothing else. Every figure is a
ratio of times that were taken in turn; the tables that are printed are in Markdown.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator

import numpy as np
import xarray as xr

import plausibly
from plausibly.kernels.types import Floats
from turns import Calls, Row, in_turn, ratio, seconds, show, versions

ALPHA = 0.1
CALIBRATION = 1_000
BURSTS, BURST = 30, 100
LABELLED_BURST = 5


def world(examples: int, labels: int, seed: int, prefix: str) -> xr.DataArray:
    """Return probabilities in float32 under names."""
    drawn = np.random.default_rng(seed).dirichlet(np.ones(labels), size=examples)
    coords = {
        "example": [f"{prefix} {place}" for place in range(examples)],
        "label": [f"label {place}" for place in range(labels)],
    }
    return xr.DataArray(drawn.astype(np.float32), coords, ("example", "label"))


def least(calls: Calls, rounds: int) -> dict[str, list[float]]:
    """Return seconds a call: the least of many short bursts in turn, once a round.

    A row takes a microsecond, and a burst is over before a machine turns to something else.
    """
    found: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(rounds):
        taken = in_turn(calls, BURSTS)
        for name in calls:
            found[name].append(min(taken[name]))
    return found


def burst(call: Callable[[], object], times: int) -> Callable[[], object]:
    """Return a call that makes another one several times."""

    def several() -> None:
        for _ in range(times):
            call()

    return several


def identity(values: Floats) -> Floats:
    """Return what came."""
    return values


def rows(labels: int, rounds: int) -> Iterator[Row]:
    """Return the lines about one example with so many labels."""
    lam = world(CALIBRATION, labels, 1, "case").astype(np.float64)
    predictor = plausibly.calibrate(world(CALIBRATION, labels, 0, "case"), lam / lam.sum("label"))
    margin = plausibly.calibrate(
        world(CALIBRATION, labels, 0, "case"), lam / lam.sum("label"), score="margin"
    )
    new = world(1, labels, 2, "new")
    row = new.values[0]
    tau = predictor.threshold_array(ALPHA)
    plain = {
        "compare": lambda: row >= tau,
        "sets": lambda: predictor.predict_array(row, ALPHA),
        "margin": lambda: margin.predict_array(row, ALPHA),
        "p-values": lambda: predictor.p_values_array(row),
    }
    labelled = {
        "apply": lambda: xr.apply_ufunc(identity, new),
        "predict": lambda: predictor.predict(new, ALPHA),
        "p_values": lambda: predictor.p_values(new),
    }
    calls = {name: burst(call, BURST) for name, call in plain.items()}
    calls |= {name: burst(call, LABELLED_BURST) for name, call in labelled.items()}
    taken = least(calls, rounds)
    each = {name: [one / BURST for one in taken[name]] for name in plain}
    each |= {name: [one / LABELLED_BURST for one in taken[name]] for name in labelled}
    bare = f"`row >= tau` ({seconds(each, 'compare')})"
    identity_call = f"`apply_ufunc` of the identity ({seconds(each, 'apply')})"
    for name, what, beside, to, goal in (
        ("sets", "`predict_array`", bare, "compare", "3, under 5 us"),
        ("margin", "`predict_array`, score margin", bare, "compare", ""),
        ("p-values", "`p_values_array`", bare, "compare", ""),
        ("predict", "`predict`", identity_call, "apply", ""),
        ("p_values", "`p_values`", identity_call, "apply", ""),
    ):
        yield Row(
            what=f"{what}, {labels:,} labels",
            beside=beside,
            ratio=ratio(each, name, to),
            goal=goal,
            note=seconds(each, name),
        )


def interpreter(*words: str) -> Callable[[], object]:
    """Return the start of a fresh interpreter with these words."""
    return lambda: subprocess.run([sys.executable, *words], check=True, capture_output=True)


def imports(rounds: int) -> Iterator[Row]:
    """Return the lines about fresh interpreters."""
    calls = {
        "numpy": interpreter("-c", "import numpy"),
        "plausibly": interpreter("-c", "import plausibly"),
        "help": interpreter("-m", "plausibly", "--help"),
    }
    taken = in_turn(calls, rounds)
    beside = f"`import numpy` ({seconds(taken, 'numpy')})"
    for name, what, goal in (
        ("plausibly", "`import plausibly`", "1.3"),
        ("help", "`plausibly --help`", "1.0"),
    ):
        yield Row(
            what=what,
            beside=beside,
            ratio=ratio(taken, name, "numpy"),
            goal=goal,
            note=seconds(taken, name),
        )


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=7)
    asked = parser.parse_args()
    warnings.simplefilter("ignore", plausibly.PlausiblyWarning)
    about = versions(["plausibly", "numpy", "xarray", "pandas"])
    about = f"Medians of {asked.rounds} rounds in turn, least to largest in brackets; {about}."
    bursts = f"{about} A time is the least of {BURSTS} short bursts."
    show("One example", [*rows(10, asked.rounds), *rows(1_000, asked.rounds)], bursts)
    show("Fresh interpreters", imports(asked.rounds), about)


if __name__ == "__main__":
    main()
