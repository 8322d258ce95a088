"""Thousands of labels on the command line: nothing over all examples and all labels is made."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import plausibly
from cli_world import done, refused, run, typed
from memory import at_most
from plausibly.io import read_plausibilities
from plausibly.kernels.sparse import Sparse

LABELS = 20_000


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write_votes(folder: Path, examples: int, labels: int) -> None:
    """Write five votes per example, of which some agree, and the names of all labels."""
    names = [f"label {code}" for code in range(labels)]
    (folder / "labels.txt").write_text("".join(f"{name}\n" for name in names), encoding="utf-8")
    rng = np.random.default_rng(0)
    said = (rng.integers(0, labels, examples)[:, None] + rng.integers(0, 4, (examples, 5))) % labels
    lines = [
        f"case {row},w{vote},{names[said[row, vote]]}\n"
        for row in range(examples)
        for vote in range(5)
    ]
    (folder / "votes.csv").write_text("task,worker,label\n" + "".join(lines), encoding="utf-8")


OF_VOTES = ("-a", "votes.csv", "--labels", "labels.txt")


def test_aggregate_makes_no_dense_array(here: Path) -> None:
    write_votes(here, 3, 40)
    run("aggregate", *OF_VOTES, "-o", "lam.npz")  # what is imported once is no part of it
    write_votes(here, 2_000, LABELS)  # dense: 305 MiB
    with at_most(96):
        ran = done("aggregate", *OF_VOTES, "-o", "lam.npz", "--json")
    assert ran.document["form"] == "sparse"
    found = read_plausibilities("lam.npz", sparse=True)
    assert (found.sizes["example"], found.sizes["label_name"]) == (2_000, LABELS)
    np.testing.assert_allclose(found["weight"].sum("slot"), 1)


@pytest.fixture
def small(here: Path) -> Path:
    """Forty examples of fifty labels: what they give is known from dense arrays."""
    write_votes(here, 40, 50)
    rng = np.random.default_rng(1)
    values = rng.dirichlet(np.full(50, 0.2), 40).astype(np.float32)
    np.savez(
        here / "p.npz",
        predictions=values,
        examples=[f"case {row}" for row in range(40)],
        labels=[f"label {code}" for code in range(50)],
    )
    return here


@pytest.mark.parametrize(
    ("out", "form", "said"),
    [
        ("lam.npz", "sparse", "only what is not 0"),
        ("lam.nc", "sparse", "only what is not 0"),
        ("lam.csv", "long", "a row for each label that is not 0"),
        ("lam.csv", "wide", ""),
        ("lam.npz", "wide", ""),
    ],
)
def test_every_form_gives_the_same_predictor(small: Path, out: str, form: str, said: str) -> None:
    ran = done("aggregate", *OF_VOTES, "-o", out, "--form", form)
    saved = next(line for line in ran.out.splitlines() if line.startswith("saved"))
    assert saved.endswith(f" kB, {said})" if said else " kB)")
    table = plausibly.read_annotations("votes.csv", labels=Path("labels.txt"))
    assert read_plausibilities(out).equals(plausibly.aggregate(table))
    words = ("-p", "p.npz", "--json", "-o", "predictor.nc")
    given = typed("calibrate --plausibilities", out, *words).document
    direct = run("calibrate", *OF_VOTES, *words).document
    assert given["fingerprint"] == direct["fingerprint"]
    dense = plausibly.calibrate(plausibly.read_predictions("p.npz"), plausibly.aggregate(table))
    assert direct["fingerprint"] == dense.fingerprint


def test_forms_that_nobody_chose(here: Path) -> None:
    write_votes(here, 3, 1_001)
    for out, form in (("lam.csv", "long"), ("lam.nc", "sparse")):
        assert run("aggregate", *OF_VOTES, "-o", out, "--json").document["form"] == form
    drawn = ("--aggregator", '{name = "bootstrap", draws = 2}')
    assert run("aggregate", *OF_VOTES, *drawn, "-o", "d.nc", "--json").document["form"] == "wide"
    write_votes(here, 3, 1_000)
    assert run("aggregate", *OF_VOTES, "-o", "lam.nc", "--json").document["form"] == "wide"


def test_a_form_that_a_format_has_not(small: Path) -> None:
    sparse = f"aggregate {' '.join(OF_VOTES)} --form sparse -o"
    refused(f"{sparse} lam.csv", "option-unfit", "found .csv hint -o lam.npz, or --form long")
    drawn = """--aggregator '{name = "bootstrap", draws = 2}'"""
    refused(f"{sparse} lam.npz {drawn}", "option-unfit", "found draws hint --form wide")


def test_evaluate_with_every_measure(small: Path) -> None:
    predictor = ("-o", "predictor.nc")
    assert run("calibrate", *OF_VOTES, "-p", "p.npz", *predictor).code == 0
    assert typed("predict predictor.nc -p p.npz -o sets.csv").code == 0
    (small / "risk.csv").write_text(
        "label,risk\n" + "".join(f"label {k},{k % 3}\n" for k in range(50)), encoding="utf-8"
    )
    assert run("aggregate", *OF_VOTES, "-o", "lam.csv").code == 0
    strata = (
        "--by",
        "label",
        "--by",
        "ambiguity",
        "--set",
        "evaluation.risk=risk",
        "--labels",
        "risk.csv",
    )
    more = (*strata, "-p", "p.npz", "--predictor", "predictor.nc", "--json")
    sparse = typed("evaluate sets.csv -a votes.csv", *more)
    dense = typed("evaluate sets.csv --plausibilities lam.csv", *more)
    assert sparse.code == dense.code == 0
    for part in (
        "results",
        "by_label",
        "by_entropy",
        "by_risk",
        "by_predicted_entropy",
        "p_values",
    ):
        assert sparse.document[part] == dense.document[part], part


def test_calibrate_and_evaluate_ask_for_no_dense_form(
    small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def dense(_: Sparse) -> None:
        raise AssertionError("the dense form was made")

    monkeypatch.setattr(Sparse, "dense", dense)
    assert run("aggregate", *OF_VOTES, "-o", "lam.nc", "--form", "sparse").code == 0
    for given in (OF_VOTES, ("--plausibilities", "lam.nc")):
        assert run("calibrate", *given, "-p", "p.npz", "-o", "predictor.nc").code == 0
        assert typed("predict predictor.nc -p p.npz -o sets.csv").code == 0
        assert typed("evaluate sets.csv", *given).code == 0
    assert run("aggregate", *OF_VOTES, "-o", "lam.nc", "--form", "wide").code == 1  # it would tell
