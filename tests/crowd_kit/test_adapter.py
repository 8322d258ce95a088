"""The adapter of crowd-kit, before and after crowd-kit: names, order, faults, messages."""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable
from types import ModuleType
from typing import Any, ClassVar, TypeAlias

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import plausibly
from call_files import each_call
from plausibly.data.annotations import rebuilt
from plausibly.errors import InputError, MissingExtra
from plausibly.plugin import AGGREGATOR, ANNOTATION, resolve
from plausibly.registry import default
from plausibly.testing import check
from refusals import refused, warned

Estimator: TypeAlias = Any  # of crowd-kit, which is optional
Parameter: TypeAlias = Any  # by its name; what checks it is the component
Series: TypeAlias = "pd.Series[Any]"  # Any: of numbers
# ---- a small library in the place of crowd-kit, with the faults of 1.4.2 that were measured
#
# Its models are simple. What matters is how it answers: by task in the order of appearance or
# sorted, with the labels that occur alone, with warnings, with tables that are wrong where codes do
# not come in sorted order, and with errors where a label is called like a column.


class _Estimator:
    """Remembers its parameters and the last frame."""

    frames: ClassVar[list[pd.DataFrame]] = []

    def __init__(self, n_iter: int = 3, tol: float = 1e-5, **more: object) -> None:
        self.n_iter, self.tol, self.more = n_iter, tol, more

    def fit(self, data: pd.DataFrame) -> _Estimator:
        warnings.warn("inplace is deprecated", DeprecationWarning, stacklevel=2)
        if list(data.columns) != ["task", "worker", "label"]:
            raise ValueError("columns")
        if data["label"].isna().any():
            raise ValueError("a missing label would be dropped, or get the prior")
        if data["label"].isin(["task", "worker", "label"]).any():
            raise ValueError("columns overlap but no suffix specified")
        if data["label"].nunique() < 2:
            raise ZeroDivisionError("one label")
        _Estimator.frames.append(data)
        # The loss goes up by half of what is left, and is scaled to be told apart.
        self.loss_history_ = [-(0.5**step) for step in range(self.n_iter)]
        late = [i for i in range(1, self.n_iter) if 0.5**i < self.tol]
        self.loss_history_ = self.loss_history_[: late[0] + 1 if late else self.n_iter]
        self._fit(data)
        return self

    def _fit(self, data: pd.DataFrame) -> None:
        raise NotImplementedError


def _votes(data: pd.DataFrame, skills: Series | None = None) -> pd.DataFrame:
    """Return shares by task, in the order of appearance, over the labels that occur."""
    weight = data.assign(w=1.0 if skills is None else data["worker"].map(skills))
    table = weight.groupby(["task", "label"], sort=False)["w"].sum().unstack().fillna(0.0)
    return table.div(table.sum(axis=1), axis=0)


def _agreement(data: pd.DataFrame, shares: pd.DataFrame) -> Series:
    right = [shares.loc[t, k] for t, k in zip(data["task"], data["label"], strict=True)]
    return data.assign(r=right).groupby("worker", sort=False)["r"].mean()


class DawidSkene(_Estimator):
    def _fit(self, data: pd.DataFrame) -> None:
        skills = _agreement(data, _votes(data))
        self.probas_ = _votes(data, skills)
        joined = data.join(self.probas_, on="task").drop(columns="task")
        errors = joined.groupby(["worker", "label"], sort=False).sum()
        self.errors_ = errors / errors.groupby("worker", sort=False).sum()


class OneCoinDawidSkene(_Estimator):
    def _fit(self, data: pd.DataFrame) -> None:
        self.skills_ = _agreement(data, _votes(data))
        self.probas_ = _votes(data, self.skills_)


class GLAD(_Estimator):
    def _fit(self, data: pd.DataFrame) -> None:
        self.alphas_ = _agreement(data, _votes(data)) * 3
        self.probas_ = _votes(data, self.alphas_).sort_index()


class MACE(_Estimator):
    def _fit(self, data: pd.DataFrame) -> None:
        sound = all(
            pd.unique(data[column]).tolist() == sorted(set(data[column]))
            for column in ("worker", "label")
        )
        skills = _agreement(data, _votes(data))
        self.probas_ = _votes(data, skills if sound else 1 - skills)
        self.spamming_ = np.stack([1 - skills, skills], axis=1)


class MMSR(_Estimator):
    """Gives scores that may be negative, and no chances."""

    def _fit(self, data: pd.DataFrame) -> None:
        if data.duplicated(["task", "worker"]).any():
            raise ValueError("the last answer would count alone")
        self.skills_ = np.log(2 * _agreement(data, _votes(data)) + 0.1)
        self.loss_history_ = [1e-11]


class KOS(_Estimator):
    """Gives labels alone, for two of them, and leaves the global generator elsewhere."""

    def _fit(self, data: pd.DataFrame) -> None:
        np.random.seed(0)  # noqa: NPY002  # as crowd-kit does
        labels = data["label"].unique()
        if len(labels) != 2:
            raise ValueError("KOS aggregation method is for binary classification only.")
        shares = _votes(data, _agreement(data, _votes(data)))
        sign = np.sign(shares[labels[0]] - shares[labels[1]])
        self.labels_ = sign.map(lambda item: {1.0: labels[0], -1.0: labels[1]}[item])


class Wawa(_Estimator):
    def __init__(self, **more: Any) -> None:  # Any: of each its own type
        super().__init__(**more)

    def _fit(self, data: pd.DataFrame) -> None:
        top = _votes(data).idxmax(axis=1)
        answers = data.assign(r=data["task"].map(top) == data["label"])
        self.skills_ = answers.groupby("worker", sort=False)["r"].mean()

    def predict_proba(self, data: pd.DataFrame) -> pd.DataFrame:
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '__sklearn_tags__'")


class ZeroBasedSkill(Wawa):
    """The same answers, by another way."""


@pytest.fixture(autouse=True)
def frames(monkeypatch: pytest.MonkeyPatch) -> list[pd.DataFrame]:
    """Put the stand-in in the place of crowd-kit; return the frames that it is given."""
    top, inside = ModuleType("crowdkit"), ModuleType("crowdkit.aggregation")
    top.__dict__.update(__version__="1.4.2", aggregation=inside)
    classes = (DawidSkene, OneCoinDawidSkene, GLAD, MACE, MMSR, KOS, Wawa, ZeroBasedSkill)
    inside.__dict__.update({item.__name__: item for item in classes})
    monkeypatch.setitem(sys.modules, "crowdkit", top)
    monkeypatch.setitem(sys.modules, "crowdkit.aggregation", inside)
    frames: list[pd.DataFrame] = []
    monkeypatch.setattr(_Estimator, "frames", frames)
    return frames


# ---- the adapter

COMPONENTS = sorted(e.name for e in default().entries(AGGREGATOR) if e.source.plugin == "crowd-kit")
CHANCES = ("dawid-skene", "glad", "mace", "one-coin")
WITH_SKILLS = ("wawa", "zero-based-skill", "mmsr")
VOTES = [
    ("t10", "bo", "task"),
    ("t10", "ann", "task"),
    ("t10", "cy", "worker"),
    ("t2", "cy", "label"),
    ("t2", "ann", "worker"),
    ("t2", "bo", "worker"),
    ("t1", "ann", "label"),
    ("t1", "bo", "label"),
    ("t1", "dan", "task"),
]
LABELS = ["worker", "nobody says this", "label", "task"]
YES_NO = [(t, w, "yes" if k == "task" else "no") for t, w, k in VOTES]


def table(votes: list[tuple[str, str, str]] = VOTES, labels: list[str] | None = None) -> xr.Dataset:
    return resolve(ANNOTATION, "single-label").build(votes, labels)


def lam(name: str, inputs: xr.Dataset, **more: Parameter) -> xr.DataArray:
    return plausibly.aggregate(inputs, f"crowd-kit:{name}", **more)


@pytest.mark.parametrize("name", COMPONENTS)
def test_reports_2_and_3_labels_that_look_like_numbers(
    name: str, frames: list[pd.DataFrame]
) -> None:
    """crowd-kit takes 0 and 1 for False and True, and renames both."""
    answers = {"yes": "1", "no": "0"}
    result = lam(name, table([(e, w, answers[k]) for e, w, k in YES_NO]))
    words = lam(name, table(YES_NO))
    same = words.assign_coords(label=[answers[str(item)] for item in words["label"].values])
    xr.testing.assert_allclose(
        result, same.sel(example=result["example"].values, label=result["label"].values)
    )
    assert all(str(text).startswith("label") for text in frames[0]["label"])


def test_rows_come_in_the_order_of_names_without_skips(frames: list[pd.DataFrame]) -> None:
    """crowd-kit's MACE mixes up annotators and labels that do not appear in sorted order."""
    lam("mace", table([*VOTES, ("t1", "cy", ""), ("t2", "dan", "")], LABELS))
    (frame,) = frames
    for column in ("worker", "label"):
        seen = pd.unique(frame[column]).tolist()
        assert seen == sorted(seen)
    rows = frame[["worker", "task"]].values.tolist()
    assert rows == sorted(rows)
    assert len(rows) == len(VOTES)


def weighted(times: list[float]) -> xr.Dataset:
    votes = table([("x", "a", "no"), ("x", "b", "yes"), ("y", "a", "yes"), ("y", "b", "yes")])
    return rebuilt(votes.assign(response_weight=("response", times)))


def test_fault_5_an_answer_that_counts_twice_is_two_rows(frames: list[pd.DataFrame]) -> None:
    lam("dawid-skene", weighted([2, 1, 1, 3]))
    assert len(frames[0]) == 7


ANONYMOUS = [*VOTES, ("t1", None, "task")]
TIED = [("t1", "a", "yes"), ("t1", "b", "no")]


def _zero(self: Estimator, data: pd.DataFrame) -> None:
    self.skills_ = pd.Series(1.0, index=pd.unique(data["worker"])) * (data["task"].min() > 0)


def _singular(self: Estimator, data: pd.DataFrame) -> None:
    raise np.linalg.LinAlgError("Singular\nmatrix")


def _nan(self: Estimator, data: pd.DataFrame) -> None:
    self.probas_ = _votes(data)
    self.probas_.iloc[0] = np.nan


@pytest.mark.parametrize(
    ("component", "estimator", "fit", "piece"),
    [
        ("wawa", Wawa, _zero, "found none for 3 examples (t1, t10"),
        ("dawid-skene", DawidSkene, _nan, "none for 1 example (t1)"),
        ("glad", GLAD, _singular, "hint aggregator dawid-skene, one-coin"),
    ],
)
def test_faults_9_and_11_estimators_that_fail(
    monkeypatch: pytest.MonkeyPatch,
    component: str,
    estimator: type[_Estimator],
    fit: Callable[[Estimator, pd.DataFrame], None],
    piece: str,
) -> None:
    monkeypatch.setattr(estimator, "_fit", fit)
    with refused("crowd-kit-failed", piece):
        lam(component, table())


@pytest.mark.parametrize("name", COMPONENTS)
def test_report_21_one_label_alone(name: str, frames: list[pd.DataFrame]) -> None:
    """crowd-kit divides by the number of labels less one; there is nothing to estimate."""
    inputs = table([("t1", "a", "x"), ("t1", "b", "x"), ("t2", "b", "x")], ["w", "x"])
    result = lam(name, inputs)
    assert result.sel(label="x").values.tolist() == [1.0, 1.0]
    assert not frames
    if name != "kos":
        reliability = plausibly.reliability(inputs, f"crowd-kit:{name}")
        assert reliability["weight"].values.tolist() == [1.0, 1.0]


def test_kos_gives_labels_alone() -> None:
    result = lam("kos", table(YES_NO))
    assert result.sel(label="yes", example=["t10", "t1", "t2"]).values.tolist() == [1.0, 0.0, 0.0]
    with pytest.raises(InputError, match="reliability-none"):
        plausibly.reliability(table(YES_NO), "crowd-kit:kos")


def test_scores_of_mmsr_are_logarithms() -> None:
    inputs = table()
    result = lam("mmsr", inputs)
    weight = plausibly.reliability(inputs, "crowd-kit:mmsr")["weight"]
    log = {
        str(who): float(np.log(2 * weight.sel(annotator=who) / (1 - weight.sel(annotator=who))))
        for who in weight["annotator"].values
    }
    odds = result.sel(example="t10", label="task") / result.sel(example="t10", label="worker")
    assert float(np.log(odds)) == pytest.approx(log["ann"] + log["bo"] - log["cy"])
    assert min(log.values()) < 0  # so that a share of the scores would be negative


@pytest.mark.parametrize("name", ["wawa", "zero-based-skill"])
def test_fault_11_votes_are_counted_here(name: str) -> None:
    """crowd-kit's own count fails with scikit-learn 1.7 and later."""
    inputs = table()
    result = lam(name, inputs)
    weight = plausibly.reliability(inputs, f"crowd-kit:{name}")["weight"]
    by = {str(who): float(weight.sel(annotator=who)) for who in weight["annotator"].values}
    assert float(result.sel(example="t10", label="task")) == pytest.approx(
        (by["ann"] + by["bo"]) / (by["ann"] + by["bo"] + by["cy"])
    )


def test_stopped_early() -> None:
    with warned("not-converged", "in iteration 4", "changes by 0.12", "hint iterations = 40"):
        result = lam("dawid-skene", table(), iterations=4, tolerance=1e-3)
    facts = json.loads(result.attrs["convergence"])
    assert (facts["iterations"], facts["change"], facts["tolerance"]) == (4, 0.125, 1e-3)
    settled = lam("dawid-skene", table(), tolerance=1e-3)
    assert json.loads(settled.attrs["convergence"])["change"] < 1e-3
    assert repr(plausibly.reliability(table(), "crowd-kit:dawid-skene")).startswith(
        "reliability  4 annotators, by crowd-kit:dawid-skene, converged after "
    )


@pytest.mark.parametrize("name", [*CHANCES, *WITH_SKILLS])
def test_one_table_of_annotators(name: str) -> None:
    inputs = table([*VOTES, ("t2", "eve", "")], LABELS)
    reliability = plausibly.reliability(inputs, f"crowd-kit:{name}")
    assert reliability["annotator"].values.tolist() == inputs["annotator"].values.tolist()
    weight = reliability["weight"].sel(annotator=["ann", "bo", "cy", "dan"])
    assert ((weight >= 0) & (weight <= 1)).all()
    assert float(weight.sel(annotator="ann")) > float(weight.sel(annotator="cy"))
    assert np.isnan(reliability["weight"].sel(annotator="eve"))
    for more in {"ability", "competence"} & set(reliability):
        assert np.isfinite(reliability[more].sel(annotator="bo"))
        assert np.isnan(reliability[more].sel(annotator="eve"))


def test_confusion_of_dawid_skene() -> None:
    inputs = table([*VOTES, ("t2", "eve", "")], LABELS)
    confusion = plausibly.reliability(inputs, "crowd-kit:dawid-skene")["confusion"]
    assert confusion.dims == ("annotator", "label", "said")
    answers = ["label", "task", "worker"]
    of_ann = confusion.sel(annotator="ann", label=answers)
    np.testing.assert_allclose(of_ann.sum("said", skipna=True), 1.0)
    assert np.isnan(confusion.sel(label="nobody says this")).all()
    assert np.isnan(confusion.sel(annotator="eve")).all()
    # ann says label, task and worker once each, cy never says task
    assert float(confusion.sel(annotator="cy", label="task", said="task")) == 0.0


@pytest.mark.parametrize("name", COMPONENTS)
def test_the_authors_kit(name: str) -> None:
    """No order of rows (fault 3, report 1), no global generator, no input that is changed."""
    expected, more = {}, {}
    if name == "kos":  # for two labels
        expected = {"example-alone": "an example alone has no message to pass on"}
        more = {"annotations": table(YES_NO)}
    component = resolve(AGGREGATOR, f"crowd-kit:{name}")
    report = check(AGGREGATOR, component, expected_failures=expected, **more)
    others = {item.name for item in report.rules if item.state != "holds"}
    assert others == {"counted-responses", *expected}  # of unknown annotators


def test_parameters_arrive(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[dict[str, Parameter]] = []

    class Seen(MACE):
        def __init__(self, **more: Parameter) -> None:
            seen.append(more)
            super().__init__(**more)

    monkeypatch.setitem(vars(sys.modules["crowdkit.aggregation"]), "MACE", Seen)
    lam("mace", table(), iterations=7, knows=2.0)
    wanted = {"n_iter": 7, "alpha": 0.5, "beta": 2.0, "n_restarts": 1}
    assert wanted.items() <= seen[0].items()


def test_without_crowd_kit(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("crowdkit", "crowdkit.aggregation"):
        monkeypatch.setitem(sys.modules, module, None)
    hint = 'hint pip install "plausibly[crowd]"'
    with refused("extra-missing", "aggregator crowd-kit:glad needs", hint, kind=MissingExtra):
        resolve(AGGREGATOR, "crowd-kit:glad")


test_each_call_gives_its_text = each_call(__file__, globals())
