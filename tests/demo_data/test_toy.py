"""The toy: its posterior is the truth, and votes calibrated on it fall short of the truth."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from plausibly.demo import subjects
from plausibly.demo.subjects import TOY_LABELS, Toy, make_toy
from plausibly.errors import InputError


@pytest.fixture(scope="module")
def made() -> Toy:
    return make_toy(20_000)


def codes(made: Toy) -> np.ndarray:
    return np.array([TOY_LABELS.index(label) for label in made.true_label.to_numpy()])


def test_plausibilities_are_the_true_posterior(made: Toy) -> None:
    # The posterior is calibrated: among examples where it says q, the label is drawn q of the time.
    lam = made.plausibilities.to_numpy()
    drawn = np.eye(len(TOY_LABELS))[codes(made)]
    for edge in np.arange(0, 1, 0.1):
        inside = (lam >= edge) & (lam < edge + 0.1)
        error = 4 * np.sqrt((lam * (1 - lam))[inside].sum())
        assert abs(drawn[inside].sum() - lam[inside].sum()) < error


def test_the_posterior_is_bayes_rule_with_widths() -> None:
    # By hand at x = 0: densities N(0; 0, 1) and N(0; 1, 2^2), weights 1/2.
    means, sigmas = np.array([[0.0], [1.0]]), np.array([[1.0], [2.0]])
    found = subjects.posterior(np.zeros((1, 1)), means, sigmas, np.array([0.5, 0.5]))
    other = np.exp(-1 / 8) / 2
    assert_allclose(found, np.array([[1, other]]) / (1 + other), rtol=1e-15)


def test_points_have_the_moments_of_their_label(made: Toy) -> None:
    points, drawn = made.points.to_numpy(), codes(made)
    for label in range(len(TOY_LABELS)):
        mine = points[drawn == label]
        scale = subjects.SIGMAS[label] / np.sqrt(len(mine))
        assert (np.abs(mine.mean(axis=0) - subjects.MEANS[label]) < 4 * scale).all()
        assert_allclose(mine.std(axis=0), subjects.SIGMAS[label], rtol=0.05)
        share = subjects.WEIGHTS[label]
        assert abs(len(mine) / len(points) - share) < 4 * np.sqrt(share * (1 - share) / len(points))


def test_the_model_is_good_and_wrong(made: Toy) -> None:
    model, lam = made.predictions.to_numpy(), made.plausibilities.to_numpy()
    assert_allclose(model.sum(axis=1), 1, rtol=1e-12)
    assert np.mean(model.argmax(axis=1) == lam.argmax(axis=1)) > 0.9
    assert np.abs(model - lam).mean() > 0.01


def test_an_example_does_not_depend_on_how_many_there_are() -> None:
    few, many = make_toy(5), make_toy(50)
    for name in ("predictions", "plausibilities", "true_label", "points"):
        assert_array_equal(getattr(few, name), getattr(many, name)[:5])
        assert_array_equal(getattr(few, name)["example"], getattr(many, name)["example"][:5])


def test_a_toy_without_examples_is_refused() -> None:
    with pytest.raises(InputError) as caught:
        make_toy(0)
    assert (caught.value.name, caught.value.hint) == ("option-range", "examples=2000")
