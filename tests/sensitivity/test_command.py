"""``plausibly sensitivity``: what is printed, for people and for programs, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli_world import World, make, run
from eval_said import check, said

BASE = ("sensitivity", "-a", "votes.csv", "-p", "probabilities.csv", "--aggregator")
EXCLUDE = '{name = "exclude", annotators = ["w2"]}'
THREE = (*BASE, "label-frequency", "--aggregator", "majority-vote", "--aggregator", EXCLUDE)


@pytest.fixture(autouse=True)
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.chdir(tmp_path)
    return make(tmp_path)


@said(__file__)
def test_what_is_printed(call: str, text: str) -> None:
    check(call, text, globals())


def test_for_programs() -> None:
    document = run(*THREE, "--splits", "10", "--alpha", "0.2", "--alpha", "0.1", "--json").document
    assert document["command"] == "sensitivity"
    assert (document["reference"], document["splits"]) == ("label-frequency", 10)
    first, second = document["alphas"]
    assert (first["alpha"], second["alpha"]) == (0.2, 0.1)
    assert first["aggregated_coverage"]["majority-vote"]["label-frequency"] == pytest.approx(
        0.722, abs=5e-4
    )
    assert first["guaranteed"]["label-frequency"] == "0.80"
    assert document["total_variation"]["label-frequency"]["majority-vote"] == pytest.approx(0.2)
    assert document["notes"]["exclude(annotators=['w2'])"] == {
        "left_out": {"responses by excluded annotators": 30}
    }


def test_coordinates_and_another_reference() -> None:
    words = ("--splits", "2", "--alpha", "0.2", "-e", "patients.csv", "--cluster", "patient")
    ran = run(*THREE, *words, "--reference", "majority-vote")
    assert ran.code == 0, ran.err
    assert "the sets of majority-vote cover" in " ".join(ran.out.split())


def test_six_aggregators_take_two_tables() -> None:
    more = [word for k in range(2, 6) for word in ("--aggregator", _weighted(k))]
    ran = run(*BASE, "label-frequency", "--aggregator", "one-coin", *more, "--splits", "1")
    assert ran.code == 0, ran.err
    assert ran.out.count("coverage, evaluated with") == 2
    assert max(map(len, ran.out.splitlines())) <= 80
    assert not [line for line in ran.out.splitlines() if line != line.rstrip()]


def _weighted(others: int) -> str:
    return f'{{name = "weighted-vote", others = {others}.0}}'
