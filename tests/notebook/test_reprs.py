"""Tables in notebooks: small tables, whole and escaped, with the numbers of the objects."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from types import SimpleNamespace

import pytest
import xarray as xr

import plausibly
from notebook_pages import HOSTILE, Piece
from plausibly import Guarantee, text
from plausibly.annotators import Agreement
from plausibly.evaluation import Evaluation, Sensitivity, Study
from plausibly.evaluation.result import Result
from plausibly.planning import Plan
from plots_world import made, parts, world

RESULTS: dict[str, Callable[[xr.Dataset], Result]] = {
    "evaluation": Evaluation,
    "study": Study,
    "plan": Plan,
    "agreement": Agreement,
    "sensitivity": Sensitivity,
}


def shown(thing: object) -> Piece:
    return Piece(thing._repr_html_())  # type: ignore[attr-defined]  # notebooks ask the same way


def test_pieces_are_escaped() -> None:
    page = text.framed(
        HOSTILE,
        text.table([[HOSTILE, 3]], head=[HOSTILE, "n"], titled=True),
        text.paragraph(HOSTILE),
        text.preformatted(HOSTILE),
        text.unfolded(HOSTILE, text.escaped(HOSTILE)),
    )
    piece = Piece(page)
    assert "script" not in piece.tags
    assert piece.text.count(HOSTILE) == 7
    assert piece.cells == [[HOSTILE, "n"], [HOSTILE, "3"]]
    assert piece.tags.count("th") == 3


def test_a_guarantee() -> None:
    guarantee = parts()[0].guarantee(0.1)
    piece = shown(guarantee)
    assert piece.text.startswith("P(Y in C(X)) >= 0.90")
    assert piece.cells == [list(row) for row in guarantee.rows()]
    assert str(guarantee).startswith("P(Y in C(X)) >= 0.90\n  covers       ")
    printed: list[str] = []
    guarantee._repr_pretty_(SimpleNamespace(text=printed.append), False)
    assert printed == [str(guarantee)]
    wild = Guarantee(alpha=Fraction(1, 10), level=None, reason=HOSTILE)
    assert HOSTILE in shown(wild).text
    assert "script" not in shown(wild).tags


def test_a_predictor() -> None:
    predictor = parts()[0]
    piece = shown(predictor)
    facts = {row[0]: row[1:] for row in piece.cells}
    assert facts["calibrated on"] == ["60 examples, seed 0"]
    assert facts["fingerprint"] == [predictor.fingerprint]
    assert facts["labels"][0].startswith("4: nodule, ")
    threshold = float(predictor.threshold(0.1))
    assert facts["0.1"] == [f"{threshold:.4f}", "P(Y in C(X)) >= 0.90"]
    assert "the guarantee at alpha 0.1 in full" in piece.text
    assert repr(predictor).startswith("ConformalPredictor  expected + average")
    hostile = shown(plausibly.calibrate(*world(30, (HOSTILE, "b"))))
    assert "script" not in hostile.tags
    assert HOSTILE in hostile.text


def test_an_annotation_table() -> None:
    answers = [("e1", "r1", "a"), ("e1", HOSTILE, HOSTILE), ("e2", HOSTILE, HOSTILE)]
    table = plausibly.build_annotations("single-label", answers, ["a", HOSTILE])
    table = table.assign_attrs(left_out=json.dumps({HOSTILE: 2}))
    piece = shown(table)
    assert "script" not in piece.tags
    assert "annotations 2 examples, 2 annotators, 3 answers" in piece.text
    assert "response_example" in piece.text
    assert repr(table).startswith("annotations  2 examples")
    detached = table.isel(response=[0])
    assert "detached" in shown(detached).text


@pytest.mark.parametrize("kind", list(RESULTS))
def test_a_result_with_its_text_and_its_variables(kind: str) -> None:
    outcome = RESULTS[kind](made(kind))
    piece = shown(outcome)
    assert " ".join(repr(outcome).split()) in " ".join(piece.text.split())
    for name in list(outcome.data.data_vars)[:3]:
        assert str(name) in piece.text, "xarray's own table is there to unfold"


def test_an_evaluation_names_each_alpha_and_its_verdict() -> None:
    outcome = Evaluation(made("evaluation"))
    mean = float(outcome.coverage.sel(alpha=0.2))
    text = " ".join(shown(outcome).text.split())
    assert f"alpha 0.2 60 {mean:.3f}" in text
    assert ": 0.80 on average, measured" in text
    assert ": 0.90 on average, measured" in text
