"""What notebooks show: small tables, whole and escaped, with the numbers of the objects."""

from __future__ import annotations

from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
import xarray as xr

import plausibly
from notebook_pages import HOSTILE, Piece
from plausibly import Guarantee, text
from plausibly.evaluation.evaluate import Evaluation
from plausibly.evaluation.study import Study
from plausibly.plugin import build_table
from plots_world import made, parts, world


def shown(thing: object) -> Piece:
    return Piece(thing._repr_html_())  # type: ignore[attr-defined]  # notebooks ask the same way


def hostile_table() -> xr.Dataset:
    return build_table(
        "single-label",
        examples=["e1", "e2"],
        annotators=["r1", HOSTILE],
        labels=["a", HOSTILE],
        response_example=[0, 0, 1],
        response_annotator=[0, 1, 1],
        mention_response=[0, 1, 2],
        mention_label=[0, 1, 1],
        left_out={HOSTILE: 2},
    )


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
    promise = parts()[0].guarantee(0.1)
    piece = shown(promise)
    assert piece.text.startswith("P(Y in C(X)) >= .90")
    assert piece.cells == [list(row) for row in promise.rows()]
    assert str(promise).startswith("P(Y in C(X)) >= .90\n  of what   ")
    printed = SimpleNamespace(text=lambda obj: said.append(obj))
    said: list[str] = []
    promise._repr_pretty_(printed, False)
    assert said == [str(promise)]
    wild = Guarantee(alpha=Fraction(1, 10), level=None, why=HOSTILE)
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
    assert facts["0.1"] == [f"{threshold:.4f}".removeprefix("0"), "P(Y in C(X)) >= .90"]
    assert "the guarantee at alpha 0.1 in full" in piece.text
    assert repr(predictor).startswith("ConformalPredictor  expected + average")


def test_hostile_labels_of_a_predictor() -> None:
    predictions, lam = world(30, (HOSTILE, "b"))
    piece = shown(plausibly.calibrate(predictions, lam))
    assert "script" not in piece.tags
    assert HOSTILE in piece.text


def test_an_annotation_table() -> None:
    table = hostile_table()
    piece = shown(table)
    assert "script" not in piece.tags
    assert "annotations 2 examples, 2 annotators, 3 responses" in piece.text
    said = piece.cells[:3]
    assert said == [["label", "responses", "share"], [HOSTILE, "2", "67 %"], ["a", "1", "33 %"]]
    assert "response_example" in piece.text
    assert repr(table).startswith("annotations  2 examples")
    detached = table.isel(response=[0])
    assert "detached" in shown(detached).text


def test_of_many_labels_the_most_said_are_listed() -> None:
    labels = [f"l{k}" for k in range(14)]
    table = build_table(
        "single-label",
        examples=["e"],
        annotators=[],
        labels=labels,
        response_example=[0] * 15,
        response_annotator=[-1] * 15,
        mention_response=np.arange(15),
        mention_label=[*range(13), 12, 12],
    )
    rows = shown(table).cells
    assert rows[1] == ["l12", "3", "20 %"]
    assert ["4 other labels", "3", ""] in rows


def test_an_evaluation_with_its_verdict() -> None:
    found = made("evaluation")
    assert isinstance(found, Evaluation)
    piece = shown(found)
    rows = [row for row in piece.cells if len(row) == 4][:7]
    assert rows[0] == ["alpha", "coverage", "mean", "95 % interval"]
    mean = float(found["aggregated_coverage_mean"].sel(alpha=0.2))
    assert rows[1][:3] == ["0.2", "aggregated: what experts said", f"{mean:.3f}".removeprefix("0")]
    assert [row[0] for row in rows[1:]] == ["0.2"] * 3 + ["0.1"] * 3
    assert "alpha 0.2: promised .80, measured" in piece.text
    assert "alpha 0.1: promised .90, measured" in piece.text
    assert "voted_coverage" in piece.text, "xarray's own table is there to unfold"
    assert repr(found).startswith("<xarray.Dataset>")


def test_a_study() -> None:
    study = made("study")
    assert isinstance(study, Study)
    piece = shown(study)
    assert "means over 3 random splits" in piece.text
    rows = [row for row in piece.cells if len(row) == 7]
    assert [row[:2] for row in rows[1:]] == [
        [alpha, name] for alpha in ("0.2", "0.1") for name in ("_votes $a$", "expected <b>")
    ]
    covered = study["aggregated_coverage"].sel(alpha=0.2).isel(method=1)
    assert rows[2][2] == f"{float(covered.mean()):.3f}".removeprefix("0")
    assert rows[2][3] == f"{float(covered.std(ddof=1)):.3f}".removeprefix("0")
    assert (rows[1][6], rows[2][6]) == ("nothing", ".80")


@pytest.mark.parametrize("kind", ["evaluation", "study"])
def test_a_part_of_a_result_is_shown_as_xarray_shows_it(kind: str) -> None:
    whole = made(kind)
    for part in (whole[["set_size"]], whole.isel(alpha=[]), whole.mean()):
        assert 'class="plausibly"' not in part._repr_html_()
        assert "set_size" in shown(part).text
    assert 'class="plausibly"' in whole.isel(alpha=slice(1))._repr_html_()


def test_one_alpha_is_a_row_each() -> None:
    piece = shown(made("evaluation").isel(alpha=0))
    assert "alpha 0.2:" not in piece.text
    assert "promised .80, measured" in piece.text
    unknown = made("evaluation").isel(alpha=0).drop_vars("alpha")
    assert shown(unknown).cells[1][0] == "-"


def test_reliability() -> None:
    piece = shown(made("reliability"))
    assert "reliability 4 annotators, by dawid-skene" in piece.text
    assert "confusion" in piece.text
