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
OF_VOTES = ("-a", "votes.csv", "--labels", "labels.txt")
DRAWN = """--aggregator '{name = "bootstrap", draws = 2}'"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write_votes(examples: int, labels: int) -> None:
    """Write five votes per example, of which some agree, and the names of all labels."""
    names = [f"label {code}" for code in range(labels)]
    Path("labels.txt").write_text("".join(f"{name}\n" for name in names), encoding="utf-8")
    rng = np.random.default_rng(0)
    said = (rng.integers(0, labels, examples)[:, None] + rng.integers(0, 4, (examples, 5))) % labels
    lines = [
        f"case {row},w{vote},{names[said[row, vote]]}\n"
        for row in range(examples)
        for vote in range(5)
    ]
    Path("votes.csv").write_text("task,worker,label\n" + "".join(lines), encoding="utf-8")


def test_aggregate_makes_no_dense_array() -> None:
    write_votes(3, 40)
    run("aggregate", *OF_VOTES, "-o", "lam.npz")  # what is imported once is no part of it
    write_votes(2_000, LABELS)  # dense: 305 MiB
    with at_most(96):
        ran = done("aggregate", *OF_VOTES, "-o", "lam.npz", "--json")
    assert ran.document["form"] == "sparse"
    found = read_plausibilities("lam.npz", sparse=True)
    assert (found.sizes["example"], found.sizes["label_name"]) == (2_000, LABELS)
    np.testing.assert_allclose(found["weight"].sum("slot"), 1)


@pytest.fixture
def small() -> None:
    """Forty examples of fifty labels: what they give is known from dense arrays."""
    write_votes(40, 50)
    np.savez(
        "p.npz",
        predictions=np.random.default_rng(1).dirichlet(np.full(50, 0.2), 40).astype(np.float32),
        examples=[f"case {row}" for row in range(40)],
        labels=[f"label {code}" for code in range(50)],
    )


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize(
    ("out", "form", "shown"),
    [
        ("lam.nc", "sparse", "only what is not 0"),
        ("lam.csv", "long", "a row for each label that is not 0"),
        ("lam.npz", "wide", ""),
    ],
)
def test_every_form_gives_the_same_predictor(out: str, form: str, shown: str) -> None:
    ran = done("aggregate", *OF_VOTES, "-o", out, "--form", form)
    saved = next(line for line in ran.out.splitlines() if line.startswith("saved"))
    assert saved.endswith(f" kB, {shown})" if shown else " kB)")
    table = plausibly.read_annotations("votes.csv", labels=Path("labels.txt"))
    assert read_plausibilities(out).equals(plausibly.aggregate(table))
    words = ("-p", "p.npz", "--json", "-o", "predictor.nc")
    dense = plausibly.calibrate(plausibly.read_predictions("p.npz"), plausibly.aggregate(table))
    for answers in (("--plausibilities", out), OF_VOTES):
        assert run("calibrate", *answers, *words).document["fingerprint"] == dense.fingerprint


def test_forms_by_default() -> None:
    for labels, words, form in (
        (1_001, "-o lam.csv", "long"),
        (1_001, "-o lam.nc", "sparse"),
        (1_001, f"-o drawn.nc {DRAWN}", "wide"),
        (1_000, "-o lam.nc", "wide"),
    ):
        write_votes(3, labels)
        assert typed(f"aggregate {words} --json", *OF_VOTES).document["form"] == form
    sparse = f"aggregate {' '.join(OF_VOTES)} --form sparse -o"
    refused(f"{sparse} lam.csv", "option-unfit", ".csv file", "-o lam.npz, or --form long")
    refused(f"{sparse} lam.npz {DRAWN}", "option-unfit", "for draws", "hint --form wide")


@pytest.mark.usefixtures("small")
def test_every_measure_without_the_dense_form(monkeypatch: pytest.MonkeyPatch) -> None:
    def dense(_: Sparse) -> None:
        raise AssertionError("the dense form was made")

    risks = "".join(f"label {k},{k % 3}\n" for k in range(50))
    Path("risk.csv").write_text(f"label,risk\n{risks}", encoding="utf-8")
    done("aggregate", *OF_VOTES, "-o", "lam.csv")
    done("aggregate", *OF_VOTES, "-o", "lam.nc", "--form", "sparse")
    plain = "evaluate sets.csv --by label --by ambiguity -p p.npz --predictor predictor.nc --json"
    more = f"{plain} --set evaluation.risk=risk --labels risk.csv"
    with monkeypatch.context() as patch:
        patch.setattr(Sparse, "dense", dense)
        for answers in (OF_VOTES, ("--plausibilities", "lam.nc")):
            assert run("calibrate", *answers, "-p", "p.npz", "-o", "predictor.nc").code == 0
            assert typed("predict predictor.nc -p p.npz -o sets.csv").code == 0
            assert typed("evaluate sets.csv", *answers).code == 0
        assert run("aggregate", *OF_VOTES, "-o", "lam.nc", "--form", "wide").code == 1  # fails
    sparse = typed(more, "-a", "votes.csv").document
    wide = typed(more, "--plausibilities", "lam.csv").document
    for part in ("results", "by_label", "by_entropy", "by_risk", "by_predicted_entropy"):
        assert sparse[part] == wide[part], part
    assert sparse["p_values"] == wide["p_values"]
