"""Output rows of pipelines, as they come from each of them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from call_files import each_call
from plausibly.huggingface import predictions

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


test_each_call_gives_its_text = each_call(__file__, globals())
