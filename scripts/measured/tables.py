"""The tables of docs/calibrators_measured.md."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

import attrs

from measured import real, simulated
from measured.data import MULTI_LABEL, load
from measured.real import Measured

FOUR = ("crema_d", "imagenet16h", "lidc_malignancy", "chaosnli_snli")

PAC: Mapping[float, tuple[int, float]] = {0.1: (650, 0.1), 0.01: (635, 0.2)}
"""By delta: calibration examples, and the share held out.

65 and 127 held-out examples are numbers at which the exact bound is nearly all of delta.
"""

_PAPER = {"majority-vote": "", "one draw": "1 - alpha", "average": "1 - 2 alpha"}
_PAPER["ecdf"] = "(1 - alpha)(1 - delta)"
_PROVED = {
    "majority-vote": "none for answers",
    "ecdf": "1 - alpha of this calibration",
    "pac, held-out": "1 - alpha of this calibration",
    "pac": "1 - alpha of this calibration",
}


@attrs.frozen
class Effort:
    """How often things are repeated.

    Attributes
    ----------
    splits, few : int
        Half splits, and fewer where a data set is large.
    runs : int
        Simulated calibrations.
    many : int
        Those by `pac`.
    seeds, sets : int
        Draws of labels, and sets that are calibrated on.
    """

    splits: int = 100
    few: int = 40
    runs: int = 200
    many: int = 2000
    seeds: int = 40
    sets: int = 20


FULL = Effort()


@attrs.frozen
class Figure:
    """A number of a table.

    Attributes
    ----------
    value, error : float
        And its standard error.
    digits : int
        Decimals that are shown.
    """

    value: float
    error: float
    digits: int = 3

    def __str__(self) -> str:
        return f"{self.value:.{self.digits}f}"


Cell: TypeAlias = "str | Figure"
Table: TypeAlias = list[list[Cell]]
"""The header, and rows."""


def _mean(found: Measured) -> Figure:
    return Figure(found.mean, found.error)


def _size(found: Measured) -> Figure:
    return Figure(found.size, found.size_error, digits=2)


def halves(data: Path, effort: Effort) -> Table:
    """Return coverage by the half of predicted entropy, calibrated together and apart."""
    table: Table = [["data", "group", "together", "labels per set", "apart", "labels per set"]]
    for name, count in (("chaosnli_snli", effort.splits), ("cifar10h", effort.few)):
        for group, found in real.by_group(load(data, name), "half", count).items():
            together, apart = found["together"], found["apart"]
            table.append(
                [name, group, _mean(together), _size(together), _mean(apart), _size(apart)]
            )
    return table


def records(data: Path, effort: Effort) -> Table:
    """Return coverage of the nights that are covered least and most."""
    found = real.by_group(load(data, "sleep_dodh"), "group", effort.few)
    table: Table = [["25 nights of sleep", "together", "apart"]]
    for name, of in (("covered least", min), ("covered most", max)):
        methods = ("together", "apart")
        best = [of((one[m] for one in found.values()), key=lambda m: m.mean) for m in methods]
        table.append([name, *map(_mean, best)])
    return table


def labels(data: Path, effort: Effort) -> Table:
    """Return coverage of each label."""
    found = real.by_label(load(data, "crema_d"), effort.splits)
    table: Table = [["annotator says", "together", "apart"]]
    table += [[label, *map(_mean, one.values())] for label, one in found.items()]
    last = next(iter(found.values()))
    return [*table, ["labels per set", *map(_size, last.values())]]


def shift(data: Path, effort: Effort) -> Table:
    """Return coverage under covariate shift."""
    return [["calibrator", "covered"], *_simulated(simulated.shift(effort.runs))]


def _simulated(found: Mapping[str, simulated.Mean]) -> Table:
    return [[f"`{name}`", Figure(one.mean, one.error)] for name, one in found.items()]


def patients(data: Path, effort: Effort) -> Table:
    """Return coverage of a random example of a new patient, and the size of sets."""
    header: list[Cell] = ["data", "`expected`", "labels per set", "`clustered`", "labels per set"]
    one = simulated.new_patient(effort.runs)
    first, second = (Figure(m.mean, m.error) for m in one.values())
    table: Table = [header, ["30 simulated patients", first, "", second, ""]]
    for name, what in (("lidc_malignancy", "patient"), ("crema_d", "actor")):
        found = real.of_a_new_group(load(data, name), effort.splits)
        cells = [cell for one in found.values() for cell in (_mean(one), _size(one))]
        table.append([f"{name} by {what}", *cells])
    return table


def shares(data: Path, effort: Effort) -> Table:
    """Return what `mass-coverage` and `risk` keep of their level on four data sets."""
    methods = ("mass-coverage", "expected, share held", "risk", "expected, risk")
    table: Table = [
        [
            "data",
            "`mass-coverage`: 0.9 held",
            "labels per set",
            "`expected`: 0.9 held",
            "`risk`: mean loss",
            "labels per set",
            "`expected`: mean loss",
        ]
    ]
    for name in FOUR:
        found = real.levels(load(data, name), effort.splits)
        mass, plain, risk, other = (found[method] for method in methods)
        table.append(
            [name, _mean(mass), _size(mass), _mean(plain), _mean(risk), _size(risk), _mean(other)]
        )
    return table


def pac(data: Path, effort: Effort) -> Table:
    """Return how often a calibration by `pac` covers less than 1 - alpha."""
    table: Table = [["delta", "held out", "calibrations below 0.9"]]
    for delta, (n, held_out) in PAC.items():
        found = simulated.violations(delta, effort.many, n=n, held_out=held_out)
        error = math.sqrt(delta * (1 - delta) / effort.many)
        table.append([f"{delta:g}", f"{round(n * held_out)} of {n}", Figure(found, error, 4)])
    return table


def draws(data: Path, effort: Effort) -> Table:
    """Return the spread of coverage over drawn labels, independent and systematic."""
    crema = load(data, "crema_d")
    table: Table = [["draws", "independent", "systematic"]]
    for count in (5, 10, 20):
        row: list[Cell] = [f"{count}"]
        for systematic in (False, True):
            method = {"name": "monte-carlo", "draws": count, "systematic": systematic}
            found = real.spreads_of_draws(
                crema,
                {"calibrator": method},
                examples=400,
                seeds=effort.seeds,
                sets=effort.sets,
            )
            error = float(found.std(ddof=1)) / math.sqrt(effort.sets)
            row.append(Figure(float(found.mean()), error, 4))
        table.append(row)
    return table


def ties(data: Path, effort: Effort) -> Table:
    """Return coverage where scores are tenths, with ties split or not."""
    found = simulated.smoothed(effort.runs)
    table: Table = [["calibrator", "as they are", "smoothed"]]
    for name in ("expected", "monte-carlo", "one draw"):
        pair = (found[name], found[f"{name}, smoothed"])
        table.append([name, *(Figure(one.mean, one.error) for one in pair)])
    return table


def several(data: Path, effort: Effort) -> Table:
    """Return what is held of examples that have several labels at once."""
    table: Table = [
        [
            "data",
            "`expected`: of their labels",
            "all their labels",
            "labels per set",
            "`mass-coverage`: all their labels",
            "labels per set",
        ]
    ]
    for name in MULTI_LABEL:
        found = real.of_all_labels(load(data, name), effort.splits)
        plain, whole, mass = found.values()
        table.append([name, _mean(plain), _mean(whole), _size(plain), _mean(mass), _size(mass)])
    return table


def procedures(data: Path, effort: Effort) -> Table:
    """Return the paper's table of procedures with measured columns."""
    table: Table = [
        ["data", "procedure", "paper", "proved", "covered", "labels per set", "extra split"]
    ]
    for name in ("crema_d", "imagenet16h"):
        found = real.procedures(load(data, name), effort.splits)
        for procedure, one in found.items():
            extra = procedure in ("ecdf", "held-out-rank", "pac, held-out")
            table.append(
                [
                    name,
                    procedure,
                    _PAPER.get(procedure, ""),
                    _PROVED.get(procedure, "1 - alpha"),
                    _mean(one),
                    _size(one),
                    "yes" if extra else "no",
                ]
            )
    return table


TABLES: Mapping[str, Callable[[Path, Effort], Table]] = {
    made.__name__: made
    for made in (
        procedures,
        halves,
        records,
        labels,
        shift,
        patients,
        shares,
        several,
        pac,
        draws,
        ties,
    )
}


def shown(table: Table) -> str:
    """Return a table in Markdown."""
    header, *rows = table
    lines: list[Sequence[Cell]] = [header, ["---"] * len(header), *rows]
    return "".join(f"| {' | '.join(map(str, line))} |\n" for line in lines)
