"""Figures of crowd-kit 1.4.2, whose Dawid-Skene has the same start and the same rounds.

Made once, in an environment of its own (Python 3.11, numpy 2.4.6, pandas 3.1.1), from the votes
below as columns task, worker and label: ``DawidSkene(n_iter=10, tol=-1).fit(votes)`` gave
``probas_`` and ``errors_``, ``OneCoinDawidSkene(n_iter=10, tol=-1).fit(votes)`` gave ``probas_``,
written with nine digits. It raises chances of 0 to 1e-10; ours stay 0.
"""

from __future__ import annotations

import numpy as np
import pytest

import plausibly
from crowd_models_worlds import quiet, table_of

# One column per task, one letter an annotator a to e, "-" where nothing was said.
VOTES = (
    "zz-xx yyyyx zx--z -yzyy -x-zx yyx-y -zzxz yyy-x x-zyx xxx-y "
    "yx-y- -zzyz -xxxz xxzyy y-zzy -zzzz y-yxy yyzzy -zz-y xyxxx"
)
DAWID_SKENE = """
.000000000 .000000000 1.00000000   .000000000 1.00000000 .000000000
.000042556 .000000000 .999957444   .134596257 .865403743 .000000000
.084674921 .784410883 .130914196   .000752785 .999247215 .000000000
.000000319 .000000000 .999999681   .000000000 1.00000000 .000000000
.989443222 .005059987 .005496791   .999115078 .000884921 .000000001
.002531364 .997460785 .000007851   .000000656 .000000000 .999999344
.999999130 .000000000 .000000870   .995613354 .003188441 .001198205
.000029695 .999962256 .000008048   .000000029 .000000000 .999999971
.000000000 1.00000000 .000000000   .000010766 .999989234 .000000000
.000002714 .000065415 .999931871   .998769524 .001230476 .000000000
"""
ONE_COIN = """
.000429481 .000138515 .999432004   .000063371 .999917950 .000018679
.001581370 .000299458 .998119172   .020250632 .918041282 .061708086
.904316153 .049992816 .045691030   .000062524 .999916558 .000020918
.015873027 .017535842 .966591131   .000080545 .999895713 .000023742
.998958662 .000384636 .000656702   .999807865 .000158800 .000033335
.003059557 .996523838 .000416605   .012471162 .022258297 .965270540
.854000816 .042158750 .103840434   .999087890 .000608711 .000303399
.000153520 .999251874 .000594605   .009922316 .013932819 .976144864
.000064697 .999883908 .000051395   .000020717 .999899044 .000080239
.035204148 .169330141 .795465711   .999358035 .000585216 .000056749
"""
# Of annotator d: rows what is said (x, y, z), columns what is true.
CONFUSION_OF_D = """
.475255865 .150409302 .483369221
.504600988 .431311378 .243304360
.020143147 .418279319 .273326420
"""
TABLE = table_of(
    [
        (f"t{task:02}", who, said, 1)
        for task, column in enumerate(VOTES.split())
        for who, said in zip("abcde", column, strict=True)
        if said != "-"
    ],
    labels="xyz",
)


def numbers(text: str) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    return np.array(text.split(), dtype=np.float64).reshape(-1, 3)


@pytest.mark.parametrize(
    ("name", "without", "theirs"),
    [
        ("dawid-skene", {"smoothing": 0.0}, DAWID_SKENE),
        ("one-coin", {"right": 0.0, "wrong": 0.0}, ONE_COIN),
    ],
)
def test_ten_rounds(name: str, without: dict[str, float], theirs: str) -> None:
    with quiet():
        lam = plausibly.aggregate(
            TABLE, {"name": name, "iterations": 10, "tolerance": 0.0, **without}
        )
    tasks = [f"t{task:02}" for task in range(20)]
    ours = lam.sel(example=tasks, label=list("xyz")).values
    assert np.abs(ours - numbers(theirs)).max() < 1e-8


def test_confusion_after_ten_rounds() -> None:
    with quiet():
        told = plausibly.reliability(
            TABLE, "dawid-skene", iterations=10, tolerance=0.0, smoothing=0.0
        )
    ours = told["confusion"].sel(annotator="d", said=list("xyz"), label=list("xyz"))
    assert np.abs(ours.transpose("said", "label") - numbers(CONFUSION_OF_D)).max() < 1e-8
