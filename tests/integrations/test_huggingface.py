"""Output rows of pipelines, as they come from each of them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from plausibly.huggingface import predictions
from refusals import refused

SCORES = np.array([[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]])
LABELS = ["anger", "joy", "none"]


def row(scores: dict[str, float]) -> list[dict[str, object]]:
    """Return a row as pipelines give it: the best label first."""
    best = sorted(scores, key=lambda label: -scores[label])
    return [{"label": label, "score": scores[label]} for label in best]


ROWS = [row(dict(zip(LABELS, scores, strict=True))) for scores in SCORES.tolist()]


def test_rows_come_in_the_order_of_the_labels() -> None:
    result = predictions(ROWS, examples=["a", "b"])
    assert (result.values == SCORES).all()
    assert list(result["label"].values) == LABELS
    assert list(result["example"].values) == ["a", "b"]
    assert result.attrs["scale"] == "probability"
    assert list(predictions(ROWS)["example"].values) == ["0", "1"]
    for labels in (["none", "joy", "anger"], {2: "anger", 0: "none", 1: "joy"}):
        another = predictions(ROWS, labels=labels)
        assert (another.values == SCORES[:, ::-1]).all()
    texts = {str(place): f"LABEL_{place}" for place in range(12)}
    large = [row(dict.fromkeys(texts.values(), 1 / 12))]
    assert list(predictions(large, labels=texts)["label"].values) == list(texts.values())


def test_rows_of_zero_shot_classification_and_streams() -> None:
    def stream() -> Iterator[object]:
        for scores in SCORES.tolist():
            yield {"sequence": "…", "labels": LABELS[::-1], "scores": scores[::-1]}

    assert (predictions(stream()).values == SCORES).all()


def test_scales() -> None:
    alone = [row({"anger": 0.9, "joy": 0.8})]
    assert predictions(alone, scale="independent").attrs["scale"] == "independent"
    logits = [row({"anger": -3.0, "joy": 8.0})]
    assert predictions(logits, scale="logit").values.tolist() == [[-3.0, 8.0]]


EVERY = "hint pipeline(inputs, top_k=None), of images top_k=len(model.config.id2label)"
CUT = [ROWS[0], ROWS[1][:1]]
BEST = [[{"label": label, "score": 0.995}] for label in LABELS]
HALF = [row({"anger": 0.9, "joy": 0.8})]
JOY = {"label": "joy", "score": 0.9}
OTHER: dict[str, object] = {"labels": ["anger", "Joy", "none"]}
ALL = f'all 3 labels in every row found "none" {EVERY}'
REFUSED: list[tuple[object, dict[str, object], str, str]] = [
    (HALF, {}, "rows-do-not-sum", 'rows: 1 of 1 row sum to 1.7 (0) | scale="independent"'),
    (
        [row({"a": 1.5, "b": 0.0})],
        {"scale": "independent"},
        "probabilities-above-one",
        "found 0 to 1.5",
    ),
    (CUT, {"labels": LABELS}, "labels-missing", ALL),
    (CUT, {"labels": LABELS, "examples": "ab"}, "labels-missing", 'example b has no score of "an'),
    (BEST, {}, "labels-missing", f'example 1 has no score of "anger" | found "joy" {EVERY}'),
    (ROWS, OTHER, "labels-missing", 'example 0 has no score of "Joy"'),
    (ROWS, {"labels": ["anger", "joy"]}, "labels-missing", "hint labels=model.config.id2label"),
    (ROWS, {"labels": {"anger": 0, "joy": 1}}, "labels-unfit", "hint labels=model.config.id2label"),
    ([], {}, "array-empty", "rows: there is nothing in it"),
    (ROWS, {"examples": ["a"]}, "rows-differ", "2, and examples are 1 | hint examples=[...]"),
    (ROWS, {"examples": ["a", "b", "c"]}, "rows-differ", "2, and examples are 3 | found 3"),
    (ROWS, {"examples": ["a", "a"]}, "example-twice", ""),
    ([JOY], {}, "row-unfit", f"{EVERY}; of a single input"),
    (row({"joy": 0.9, "anger": 0.1}), {}, "row-unfit", f"{EVERY}; of a single input"),
    ([[*ROWS[0], ROWS[0][0]]], {}, "row-unfit", "one finite score per label"),
    ([row({"anger": float("nan"), "joy": 0.5})], {}, "row-unfit", "example 0 | nan"),
    (["joy"], {}, "row-unfit", 'expected [{"label": ..., "score": ...}, ...], or {"labels": [...]'),
    *(
        ([odd], {}, "row-unfit", "example 0")
        for odd in (
            None,
            [["joy", 0.9]],
            [{"entity": "B-PER", "score": 0.9, "word": "Ann"}],
            {"generated_text": "joy"},
            {"labels": ["joy"], "scores": [0.5, 0.5]},
            [{"label": "joy", "score": "0.9"}],
            [{"label": "joy", "score": True}],
        )
    ),
]


@pytest.mark.parametrize(("rows", "options", "name", "piece"), REFUSED)
def test_what_is_refused(rows: object, options: dict[str, object], name: str, piece: str) -> None:
    with refused(name, *piece.split(" | ")):
        predictions(rows, **options)  # type: ignore[arg-type]  # wrong on purpose
