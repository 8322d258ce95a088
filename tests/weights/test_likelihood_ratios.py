"""Likelihood ratios: known ones, what they may not depend on, messages, and the shift they fix."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import xarray as xr
from hypothesis import given, strategies as st

import plausibly
from plausibly.errors import InputError, MissingExtra, PlausiblyWarning

pytest.importorskip("sklearn", reason="likelihood ratios are estimated by scikit-learn")

Matrix = np.ndarray[tuple[int, int], np.dtype[np.float64]]


def table(values: Matrix, prefix: str) -> xr.DataArray:
    return xr.DataArray(
        values,
        dims=("example", "feature"),
        coords={
            "example": [f"{prefix} {i}" for i in range(len(values))],
            "feature": [f"x{j}" for j in range(values.shape[1])],
        },
    )


def gaussian(count: int, mean: float, prefix: str, seed: int, width: int = 2) -> xr.DataArray:
    """Return standard normal features, the first with another mean."""
    values = np.random.default_rng(seed).normal(size=(count, width))
    values[:, 0] += mean
    return table(values, prefix)


SOURCE, TARGET = gaussian(4_000, 0, "source", 0), gaussian(2_000, 1, "target", 1)
CASES = gaussian(500, 0, "case", 2)


def test_the_ratio_of_two_gaussians_is_found() -> None:
    """N(1, 1) against N(0, 1): w(x) = exp(x - 1/2), whatever the numbers of rows."""
    ratios = plausibly.likelihood_ratios(SOURCE, TARGET, CASES)
    exact = np.exp(CASES.sel(feature="x0") - 0.5)
    assert ratios.name == "weight"
    assert ratios.dims == ("example",)
    assert list(ratios["example"].values) == list(CASES["example"].values)
    error = np.log(ratios / exact)
    assert float(abs(error).max()) < 0.35
    assert float(abs(error).mean()) < 0.1
    assert float(ratios.mean()) == pytest.approx(1, abs=0.15)
    assert ratios.attrs["rows"] == [4_000, 2_000]
    assert ratios.attrs["clip"] == 100.0
    assert ratios.attrs["clipped"] == 0
    assert ratios.attrs["effective_sample_size"] == plausibly.effective_sample_size(ratios)
    # (E w)^2 / E w^2 = exp(-1) for this pair.
    assert ratios.attrs["effective_sample_size"] / 500 == pytest.approx(np.exp(-1), abs=0.12)


def test_units_of_the_features_do_not_matter() -> None:
    ratios = plausibly.likelihood_ratios(SOURCE, TARGET, CASES)
    scaled = plausibly.likelihood_ratios(*(1000 * a - 7 for a in (SOURCE, TARGET, CASES)))
    np.testing.assert_allclose(scaled, ratios, rtol=1e-3)


def test_order_and_batch_do_not_matter() -> None:
    ratios = plausibly.likelihood_ratios(SOURCE, TARGET, CASES)
    turned = plausibly.likelihood_ratios(
        SOURCE[::-1, ::-1], TARGET[::-1].transpose("feature", "example"), CASES[::-1, ::-1]
    )
    np.testing.assert_array_equal(turned.values, ratios.values[::-1])
    alone = plausibly.likelihood_ratios(SOURCE, TARGET, CASES[[7]])
    assert float(alone[0]) == pytest.approx(float(ratios[7]), rel=1e-12)


def test_nothing_given_is_changed_and_read_only_is_enough() -> None:
    arrays = [gaussian(50, shift, name, 3) for name, shift in (("a", 0), ("b", 1), ("c", 0))]
    before = [array.copy(deep=True) for array in arrays]
    for array in arrays:
        array.values.flags.writeable = False
    plausibly.likelihood_ratios(*arrays)
    for array, copy in zip(arrays, before, strict=True):
        xr.testing.assert_identical(array, copy)


def test_another_classifier_is_cloned_and_seeded() -> None:
    ensemble = pytest.importorskip("sklearn.ensemble")
    forest = ensemble.RandomForestClassifier(n_estimators=5, min_samples_leaf=50)
    item, two, three = (
        plausibly.likelihood_ratios(SOURCE[:600], TARGET[:600], CASES, classifier=forest, seed=seed)
        for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(item, two)
    assert not item.equals(three)
    assert forest.random_state is None
    assert not hasattr(forest, "estimators_")


class Sure:
    """A classifier that is certain that everything is target, or source."""

    def __init__(self, answer: list[float]) -> None:
        self.answer = answer

    def fit(self, X: Any, y: Any) -> Sure:  # Any: as scikit-learn
        return self

    def predict_proba(self, X: Any) -> Any:  # Any: as scikit-learn
        return np.tile(self.answer, (len(X), 1))


def test_ratios_are_clipped_and_counted() -> None:
    for answer, ratio in (([0.0, 1.0], 20.0), ([1.0, 0.0], 0.05)):
        ratios = plausibly.likelihood_ratios(
            SOURCE, TARGET, CASES, classifier=Sure(answer), clip=20
        )
        assert (ratios == ratio).all()
        assert ratios.attrs["clipped"] == 500
        assert ratios.attrs["effective_sample_size"] == pytest.approx(500)


@given(st.lists(st.floats(0.01, 100), min_size=1, max_size=20), st.floats(0.001, 1000))
def test_effective_sample_size(weights: list[float], factor: float) -> None:
    values = np.array(weights)
    size = plausibly.effective_sample_size(values)
    assert size == pytest.approx(values.sum() ** 2 / (values**2).sum())
    assert 1 - 1e-9 <= size <= len(weights) + 1e-9
    assert plausibly.effective_sample_size(factor * values) == pytest.approx(size)
    assert plausibly.effective_sample_size(np.ones(len(weights))) == pytest.approx(len(weights))
    assert plausibly.effective_sample_size(xr.DataArray(values, dims="example")) == size


def test_weights_that_are_none_are_refused() -> None:
    with pytest.raises(InputError, match="weights-malformed"):
        plausibly.effective_sample_size(np.ones((2, 2)))
    with pytest.raises(InputError, match="weights-range"):
        plausibly.effective_sample_size(np.array([1.0, -1.0]))


def test_uneven_weights_are_warned_of() -> None:
    source, target = gaussian(500, 0, "source", 0), gaussian(500, 4, "target", 1)
    request = gaussian(200, 0, "case", 5)
    with pytest.warns(PlausiblyWarning) as heard:
        ratios = plausibly.likelihood_ratios(source, target, request, clip=1e6)
    (message,) = (item.message for item in heard)
    assert isinstance(message, PlausiblyWarning)
    assert message.name == "weights-uneven"
    assert f"worth {ratios.attrs['effective_sample_size']:.1f} equal ones" in message.what
    assert f"{100 * float(np.sort(ratios)[-2:].sum() / ratios.sum()):.0f}%" in message.found
    assert heard[0].filename == __file__
    plausibly.likelihood_ratios(source, target, request[:19], clip=1e6)


def refused(*arrays: Any, **options: Any) -> str:  # Any: wrong on purpose
    with pytest.raises(InputError) as error:
        plausibly.likelihood_ratios(*arrays, **options)
    return " ".join(str(error.value).split())


def test_examples_that_are_weighed_are_not_fitted() -> None:
    both = xr.concat([SOURCE, CASES[:2]], "example")
    message = refused(both, TARGET, CASES)
    assert message.startswith("error ratios-own-examples: 2 examples to weigh are in source as")
    assert "target as well (case 0)" in refused(
        SOURCE, xr.concat([TARGET, CASES[:1]], "example"), CASES
    )


def test_features_match_by_name() -> None:
    assert "2 features: x0, x1 found x0 hint" in refused(SOURCE, TARGET[:, :1], CASES)
    more = gaussian(9, 0, "case", 0, width=3)
    assert "features and source have different features" in refused(SOURCE, TARGET, more)
    assert "found x0, x1, x2 hint" in refused(SOURCE, TARGET, more)


@pytest.mark.parametrize(
    ("change", "result"),
    [
        (lambda a: a.values, "ndarray"),
        (lambda a: a.rename(feature="column"), "dims example, column"),
        (lambda a: a.drop_vars("feature"), "no names along feature"),
        (lambda a: a.astype(str), "no finite numbers"),
        (lambda a: a[:0], "nothing"),
        (lambda a: a.where(a < 1), "no finite numbers"),
    ],
)
def test_features_that_are_none_are_refused(
    change: Any,  # Any: a function of an array
    result: str,
) -> None:
    message = refused(change(SOURCE), TARGET, CASES)
    assert message.startswith("error features-malformed: source: ")
    assert result in message


def test_other_options_that_cannot_be_used_are_refused() -> None:
    for clip in (1, -2, float("inf"), "wide"):
        message = refused(SOURCE, TARGET, CASES, clip=clip)
        assert message.startswith("error option-range: ")
        assert f"found {clip!r}" in message
    for classifier, got in (
        (Sure([1.0, 0.0, 0.0]), "of shape (500, 2) found shape (500, 3)"),
        (Sure([2.0, -1.0]), "found shape (500, 2), 1,000 others"),
    ):
        message = refused(SOURCE, TARGET, CASES, classifier=classifier)
        assert message.startswith("error classifier-malformed: ")
        assert got in message


def test_without_scikit_learn_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise ModuleNotFoundError(f"No module named {name!r}", name=name.partition(".")[0])

    monkeypatch.setattr("plausibly.extras.import_module", missing)
    with pytest.raises(MissingExtra, match="likelihood_ratios needs sklearn"):
        plausibly.likelihood_ratios(SOURCE, TARGET, CASES)


def test_the_effective_sample_size_of_huge_weights() -> None:
    """(1 + 1 + 2)^2 / (1 + 1 + 4), where squares pass every double."""
    weights = np.array([1.0, 1.0, 2.0])
    assert plausibly.effective_sample_size(1e200 * weights) == pytest.approx(16 / 6, rel=1e-12)
