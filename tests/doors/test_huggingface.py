"""Output rows of pipelines, as they come from each of them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, strategies as st

import plausibly
from plausibly.huggingface import predictions

SCORES = np.array([[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]])
LABELS = ["anger", "joy", "none"]


def row(scores: dict[str, float]) -> list[dict[str, object]]:
    """Return a row as pipelines give it: the best label first."""
    best = sorted(scores, key=lambda label: -scores[label])
    return [{"label": label, "score": scores[label]} for label in best]


ROWS = [row(dict(zip(LABELS, one, strict=True))) for one in SCORES.tolist()]


def refusal(rows: object, **options: object) -> str:
    with pytest.raises(plausibly.InputError) as refused:
        predictions(rows, **options)  # type: ignore[arg-type]  # wrong on purpose
    return str(refused.value)


def test_rows_come_in_the_order_of_the_labels() -> None:
    found = predictions(ROWS, examples=["a", "b"])
    assert (found.values == SCORES).all()
    assert list(found["label"].values) == LABELS
    assert list(found["example"].values) == ["a", "b"]
    assert found.attrs["scale"] == "probability"
    assert list(predictions(ROWS)["example"].values) == ["0", "1"]
    for labels in (["none", "joy", "anger"], {2: "anger", 0: "none", 1: "joy"}):
        other = predictions(ROWS, labels=labels)
        assert (other.values == SCORES[:, ::-1]).all()
    texts = {str(place): f"LABEL_{place}" for place in range(12)}
    many = [row(dict.fromkeys(texts.values(), 1 / 12))]
    assert list(predictions(many, labels=texts)["label"].values) == list(texts.values())


def test_rows_of_zero_shot_classification_and_streams() -> None:
    def stream() -> Iterator[object]:
        for one in SCORES.tolist():
            yield {"sequence": "…", "labels": LABELS[::-1], "scores": one[::-1]}

    assert (predictions(stream()).values == SCORES).all()


def test_scales() -> None:
    alone = [row({"anger": 0.9, "joy": 0.8})]
    assert predictions(alone, scale="independent").attrs["scale"] == "independent"
    logits = [row({"anger": -3.0, "joy": 8.0})]
    assert predictions(logits, scale="logit").values.tolist() == [[-3.0, 8.0]]
    assert refusal(alone) == (
        "error scores-do-not-sum: rows, example 0 has scores that sum to 1.7\n"
        "  expected  1 within 0.01, as of a softmax; got anger 0.9, joy 0.8\n"
        '  do        top_k for every label; scale="independent" for a sigmoid\n'
        '            (multi_label=True), scale="logit" for function_to_apply="none"'
    )
    assert "above 1" in refusal(logits and [row({"a": 1.5, "b": 0.0})], scale="independent")


@given(st.permutations(range(3)), st.permutations(range(3)))
def test_the_order_within_a_row_does_not_matter(first: list[int], second: list[int]) -> None:
    mixed = [[ROWS[0][place] for place in first], [ROWS[1][place] for place in second]]
    assert predictions(ROWS).identical(predictions(mixed))


def test_a_calibration_from_rows() -> None:
    rows = [row({"no": p, "yes": 1 - p}) for p in (0.05 + 0.9 * i / 39 for i in range(40))]
    names = [f"text {i}" for i in range(40)]
    said = [(name, None, "yes" if i < 20 else "no") for i, name in enumerate(names)]
    table = plausibly.build_annotations("single-label", said, ["no", "yes"])
    found = predictions(rows, labels={0: "no", 1: "yes"}, examples=names)
    sets = plausibly.calibrate(found, table).predict(predictions(rows, labels=["yes", "no"]), 0.2)
    assert list(sets["label"].values) == ["yes", "no"]
    assert sets.sel(example="0").values.tolist() == [True, False]


def test_one_label_a_row() -> None:
    expected = (
        "error top-one: rows, example 0 has the score of one label\n"
        "  expected  a list with every label, or labels and scores of zero-shot\n"
        "            pipelines; got joy 0.9\n"
        "  do        pipeline(inputs, top_k=None), of images\n"
        "            top_k=len(model.config.id2label); of a single input\n"
        "            predictions([rows])"
    )
    assert refusal([{"label": "joy", "score": 0.9}]) == expected
    assert refusal(row({"joy": 0.9, "anger": 0.1})) == expected
    do = (
        "  do        pipeline(inputs, top_k=None), of images\n"
        "            top_k=len(model.config.id2label)"
    )
    cut = [ROWS[0], ROWS[1][:1]]
    assert refusal(cut, examples=["a", "b"], labels=LABELS) == (
        'error labels-missing: rows, example b has no score of "anger", "joy"\n'
        f"  expected  all 3 labels; got the first 1 label\n{do}"
    )
    best = [[{"label": label, "score": 0.995}] for label in LABELS]
    assert refusal(best) == (
        "error labels-missing: rows, example 1 names other labels than the first row\n"
        f'  expected  every label in every row; got "joy" in one of them\n{do}'
    )
    assert refusal(cut).splitlines()[1] == (
        '  expected  every label in every row; got "anger", "joy" in one of them'
    )


def test_labels_that_do_not_fit() -> None:
    assert refusal(ROWS, labels=["anger", "Joy", "none"]) == (
        'error label-unknown: rows, example 0 names "joy"\n'
        '  expected  one of 3 labels: "anger", "Joy", "none"; got "joy"\n'
        '  do        did you mean "Joy"? mend labels='
    )
    assert refusal(ROWS, labels=["anger", "joy"]).endswith("do        add it to labels=")
    assert refusal([[*ROWS[0], ROWS[0][0]]]) == (
        'error label-twice: rows, example 0 names "anger" twice\n'
        '  expected  each label once; got "anger", "joy", "none"\n'
        "  do        give the labels of the model different names: model.config.id2label"
    )
    assert refusal(ROWS, labels={"anger": 0, "joy": 1}) == (
        "error labels-unfit: labels have keys that are no numbers\n"
        '  expected  model.config.id2label: a number to a name; got "anger", "joy"\n'
        "  do        labels=model.config.id2label"
    )


@pytest.mark.parametrize(
    "unfit",
    [
        "joy",
        None,
        [["joy", 0.9]],
        [{"entity": "B-PER", "score": 0.9, "word": "Ann"}],
        {"generated_text": "joy"},
        {"labels": ["joy"], "scores": [0.5, 0.5]},
        [{"label": "joy", "score": "0.9"}],
        [{"label": "joy", "score": True}],
    ],
)
def test_rows_of_other_pipelines(unfit: object) -> None:
    assert refusal([unfit]).startswith(
        "error row-unfit: rows, example 0 is no row of classification\n"
        '  expected  [{"label": ..., "score": ...}, ...], or {"labels": [...], "scores":\n'
        "            [...]}; got "
    )


def test_scores_that_are_no_numbers_and_nothing() -> None:
    assert refusal([row({"anger": float("nan"), "joy": 0.5})]) == (
        "error scores-not-finite: rows, example 0 has a score that is not finite\n"
        "  expected  numbers; got anger nan\n"
        "  do        look at what the model was given there, or leave it out"
    )
    assert refusal([]) == (
        "error rows-missing: there are no rows of a pipeline\n"
        "  expected  one entry an example; got none\n"
        "  do        pipeline(inputs, top_k=None), of images\n"
        "            top_k=len(model.config.id2label)"
    )
    for names in (["a"], ["a", "b", "c"]):
        assert refusal(ROWS, examples=names) == (
            f"error rows-differ: rows are 2, and examples are {len(names)}\n"
            f"  expected  one name a row; got {len(names)}\n"
            "  do        examples=[...], in the order in which the pipeline was given them"
        )
    assert "example-twice" in refusal(ROWS, examples=["a", "a"])
