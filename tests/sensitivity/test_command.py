"""``plausibly sensitivity``: what is printed, for people and for programs, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli_world import World, make, run

SAID = """\
annotations  votes.csv (crowd-table): 30 examples, 3 annotators, 90 responses (3
             each), 3 labels; single-label; 70 % of examples disputed
predictions  probabilities.csv: 30 x 3 float64

 1  label-frequency: largest plausibility .733; the reference
 2  majority-vote: largest plausibility .933
 3  exclude(annotators=['w2']): largest plausibility .900; left out: 30
      responses by excluded annotators

alpha 0.2                    covers, judged by
calibrated with                1      2      3    size  changed
 1  label-frequency         .833   .960   .960    1.31        -
 2  majority-vote           .722✗  .853   .853    1.02     12 %
 3  exclude(annotators=[…   .722✗  .853   .853    1.02     12 %

apart (first label differs)          1         2         3
 1  label-frequency                  - .200 (0%) .217 (0%)
 2  majority-vote            .200 (0%)         - .083 (0%)
 3  exclude(annotators=[…    .217 (0%) .083 (0%)         -

At alpha 0.2, the sets of label-frequency cover .833 (label-frequency) to .960
(majority-vote), by who judges; calibrated with each, sets have 1.02 to 1.31
labels. Means of 10 splits. A guarantee is about the plausibilities that
calibrated: the diagonal. Apart: the total variation of plausibilities, and the
share of examples whose most plausible label is another.
"""
BASE = ("sensitivity", "-a", "votes.csv", "-p", "probabilities.csv", "--aggregator")
EXCLUDE = '{name = "exclude", annotators = ["w2"]}'
THREE = (*BASE, "label-frequency", "--aggregator", "majority-vote", "--aggregator", EXCLUDE)


@pytest.fixture(autouse=True)
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.chdir(tmp_path)
    return make(tmp_path)


def test_for_people() -> None:
    ran = run(*THREE, "--splits", "10", "--alpha", "0.2")
    assert (ran.code, ran.err, ran.out) == (0, "", SAID)
    assert max(map(len, ran.out.splitlines())) <= 80


def test_for_programs() -> None:
    document = run(*THREE, "--splits", "10", "--alpha", "0.2", "--alpha", "0.1", "--json").document
    assert document["command"] == "sensitivity"
    assert (document["reference"], document["splits"]) == ("label-frequency", 10)
    first, second = document["alphas"]
    assert (first["alpha"], second["alpha"]) == (0.2, 0.1)
    assert first["aggregated_coverage"]["majority-vote"]["label-frequency"] == pytest.approx(
        0.722, abs=5e-4
    )
    assert first["guaranteed"]["label-frequency"] == ".80"
    assert document["total_variation"]["label-frequency"]["majority-vote"] == pytest.approx(0.2)
    assert document["notes"]["exclude(annotators=['w2'])"] == {
        "left_out": {"responses by excluded annotators": 30}
    }


def test_coordinates_and_another_reference() -> None:
    words = ("--splits", "2", "--alpha", "0.2", "-e", "patients.csv", "--group", "patient")
    ran = run(*THREE, *words, "--reference", "majority-vote")
    assert ran.code == 0, ran.err
    assert "the sets of majority-vote cover" in " ".join(ran.out.split())


def test_six_aggregators_take_two_tables() -> None:
    more = [word for k in range(2, 6) for word in ("--aggregator", _weighted(k))]
    ran = run(*BASE, "label-frequency", "--aggregator", "one-coin", *more, "--splits", "1")
    assert ran.code == 0, ran.err
    assert ran.out.count("covers, judged by") == 2
    assert max(map(len, ran.out.splitlines())) <= 80
    assert not [line for line in ran.out.splitlines() if line != line.rstrip()]


def _weighted(others: int) -> str:
    return f'{{name = "weighted-vote", others = {others}.0}}'


def test_a_slip_is_said_before_anything_is_read() -> None:
    ran = run("sensitivity", "-a", "nowhere.csv", "-p", "none.csv", "--aggregator", "one-coin")
    assert ran.code == 2
    assert ran.err == (
        "error aggregators-few: there is nothing to compare\n"
        "  expected  two aggregators or more; got one-coin\n"
        "  do        --aggregator twice or more (aggregators=[...]); all: plausibly\n"
        "            plugins list --kind aggregator\n"
    )
    ran = run(*BASE, "one-coin", "--aggregator", "one-coim")
    assert ran.code == 2
    assert 'did you mean "one-coin"?' in " ".join(ran.err.split())
