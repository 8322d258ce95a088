"""Calibrate and predict beside plain numpy and the other conformal libraries, on the same arrays.

Run it with ``python benchmarks/peers.py``; libraries that are not installed are left out: MAPIE,
crepes, puncc and TorchCP. All get probabilities and one majority vote per example, since that is
what they know, through a model that answers with the probabilities it is given.
"""

from __future__ import annotations

import argparse
import importlib
import warnings
from collections.abc import Callable, Iterator
from types import ModuleType

import attrs
import numpy as np
import xarray as xr
from numpy.typing import NDArray

import plausibly
from kernels import softmax
from plausibly.kernels.types import Floats, Ints
from turns import Row, in_turn, ratio, seconds, show, versions

ALPHA = 0.1
PEERS = ("MAPIE", "crepes", "puncc", "torchcp", "torch", "numpy", "xarray")
MODULES = {
    "MAPIE": "mapie.classification",
    "crepes": "crepes",
    "puncc": "deel.puncc.classification",
    "TorchCP": "torchcp.classification.predictor",
}


@attrs.frozen(kw_only=True, eq=False)
class Case:
    """Probabilities of calibration and test examples, and the majority votes of the former."""

    calibration: Floats
    voted: Ints
    test: Floats

    @classmethod
    def made(cls, examples: int, labels: int, seed: int = 0) -> Case:
        """Return examples whose labels are drawn from the probabilities.

        Parameters
        ----------
        examples : int
            As many calibrate as are predicted.
        labels, seed : int
        """
        generator = np.random.default_rng(seed)
        both = softmax(generator, (2 * examples, labels))
        below = np.cumsum(both[:examples], axis=1, dtype=np.float64)
        voted = (generator.random((examples, 1)) * below[:, -1:] >= below).sum(axis=1)
        return cls(calibration=both[:examples], voted=voted, test=both[examples:])

    def labelled(self) -> tuple[xr.DataArray, xr.DataArray, xr.DataArray]:
        """Return calibration predictions, votes as plausibilities, and test predictions."""
        labels = [f"label {code}" for code in range(self.calibration.shape[1])]
        votes = np.zeros(self.calibration.shape)
        np.put_along_axis(votes, self.voted[:, None], 1.0, axis=1)

        def array(values: Floats, kind: str) -> xr.DataArray:
            examples = [f"{kind} {number}" for number in range(len(values))]
            coords = {"example": examples, "label": labels}
            return xr.DataArray(values, dims=("example", "label"), coords=coords)

        model = array(self.calibration, "calibration").assign_attrs(scale="probability")
        test = array(self.test, "test").assign_attrs(scale="probability")
        return model, array(votes, "calibration"), test


class Given:
    """A model in the manner of scikit-learn whose probabilities are its input."""

    def __init__(self, labels: int) -> None:
        self.classes_ = np.arange(labels)

    def fit(self, probabilities: Floats, voted: Ints) -> Given:
        """Return the model as it is."""
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def predict(self, probabilities: Floats) -> Ints:
        """Return the likeliest labels, as scikit-learn means it."""
        found: Ints = probabilities.argmax(axis=1)
        return found

    def predict_proba(self, probabilities: Floats) -> Floats:
        """Return the input."""
        return probabilities


class Probabilities:
    """The same in the manner of puncc, whose models predict probabilities."""

    is_trained = True

    def predict(self, probabilities: Floats) -> Floats:
        """Return the input."""
        return probabilities


def plain(case: Case) -> NDArray[np.bool_]:
    """Return sets by the probability score in as little numpy as they need."""
    scores = case.calibration[np.arange(len(case.voted)), case.voted]
    rank = int(np.floor(ALPHA * (len(scores) + 1)))
    sets: NDArray[np.bool_] = case.test >= np.partition(scores, rank - 1)[rank - 1]
    return sets


def plain_aps(case: Case) -> NDArray[np.bool_]:
    """Return sets by adaptive scores, in blocks of rows, sorted whole."""
    block = max(1, (1 << 17) // case.test.shape[1])
    scores = np.concatenate(
        [
            _below(case.calibration[start : start + block])[
                np.arange(len(case.voted[start : start + block])),
                case.voted[start : start + block],
            ]
            for start in range(0, len(case.voted), block)
        ]
    )
    rank = int(np.floor(ALPHA * (len(scores) + 1)))
    tau = np.partition(scores, rank - 1)[rank - 1]
    sets = np.empty(case.test.shape, bool)
    for start in range(0, len(sets), block):
        np.greater_equal(
            _below(case.test[start : start + block]), tau, out=sets[start : start + block]
        )
    return sets


def _below(probabilities: Floats) -> NDArray[np.float64]:
    order = np.argsort(probabilities, axis=1)
    cumulative = np.cumsum(
        np.take_along_axis(probabilities, order, axis=1), axis=1, dtype=np.float64
    )
    cumulative[:, 1:] = cumulative[:, :-1]
    cumulative[:, 0] = 0
    found = np.empty_like(cumulative)
    np.put_along_axis(found, order, cumulative, axis=1)
    return found


def ours(case: Case, score: str) -> dict[str, Callable[[], object]]:
    """Return calibrate and predict, labelled, and predicted as arrays."""
    model, votes, test = case.labelled()

    def calibrated() -> plausibly.ConformalPredictor:
        return plausibly.calibrate(model, votes, calibrator="majority-vote", score=score)

    return {
        "labelled": lambda: calibrated().predict(test, ALPHA),
        "array": lambda: calibrated().predict_array(case.test, ALPHA),
    }


def scores_alone(case: Case, rounds: int) -> Row:
    """Return the threshold of scores and one comparison beside as little numpy as they need."""

    def by_threshold() -> object:
        scores = case.calibration[np.arange(len(case.voted)), case.voted]
        return case.test >= plausibly.score_threshold(scores, ALPHA)

    taken = in_turn({"ours": by_threshold, "numpy": lambda: plain(case)}, rounds)
    return Row(
        what=f"`score_threshold` and one comparison, {len(case.test):,} + {len(case.test):,} "
        f"examples, {case.test.shape[1]:,} labels",
        beside=f"numpy ({seconds(taken, 'numpy')})",
        ratio=ratio(taken, "ours", "numpy"),
        goal="at most 1.3",
        note="no names, no checks of a model",
    )


def others(case: Case, score: str) -> dict[str, Callable[[], object]]:
    """Return the same by each library that is there and has the score."""
    found = {name: _module(module) for name, module in MODULES.items()}
    made: dict[str, Callable[[], object]] = {}
    labels = case.calibration.shape[1]
    if mapie := found["MAPIE"]:
        named = {"probability": "lac", "aps": "aps"}[score]

        def by_mapie() -> object:
            one = mapie.SplitConformalClassifier(
                Given(labels), confidence_level=1 - ALPHA, conformity_score=named, prefit=True
            )
            return one.conformalize(case.calibration, case.voted).predict_set(case.test)

        made["MAPIE"] = by_mapie
    if puncc := found["puncc"]:
        kind = {"probability": puncc.LAC, "aps": puncc.APS}[score]

        def by_puncc() -> object:
            one = kind(Probabilities(), train=False)
            one.fit(X_calib=case.calibration, y_calib=case.voted)
            return one.predict(case.test, alpha=ALPHA)

        made["puncc"] = by_puncc
    if predictors := found["TorchCP"]:
        torch = importlib.import_module("torch")
        scores = importlib.import_module("torchcp.classification.score")
        name = {"probability": "LAC", "aps": "APS"}[score]

        def by_torchcp() -> object:
            rule = getattr(scores, name)(score_type="identity")
            one = predictors.SplitPredictor(rule, alpha=ALPHA)
            voted = torch.from_numpy(case.voted)
            one.calculate_threshold(torch.from_numpy(case.calibration), voted)
            return one.predict_with_logits(torch.from_numpy(case.test))

        made["TorchCP"] = by_torchcp
    return made


def _module(name: str) -> ModuleType | None:
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def sets(case: Case, score: str, rounds: int) -> Iterator[Row]:
    """Yield calibrate and predict beside each of the others."""
    made = ours(case, score)
    by_numpy = plain if score == "probability" else plain_aps
    calls = {
        **made,
        "numpy": lambda: by_numpy(case),
        **others(case, score),
    }
    taken = in_turn(calls, rounds)
    size = f"{len(case.test):,} + {len(case.test):,} examples, {case.test.shape[1]:,} labels"
    goal = "at most 1.3" if score == "probability" else "at most 1"
    note = f"ours {seconds(taken, 'labelled')}, {seconds(taken, 'array')} with arrays predicted"
    for name in calls:
        if name not in made:
            yield Row(
                what=f"calibrate and predict by {score}, {size}",
                beside=f"{name} ({seconds(taken, name)})",
                ratio=ratio(taken, "labelled", name),
                goal=goal if name == "numpy" else "below 1",
                note=note,
            )


def p_values(case: Case, rounds: int) -> Iterator[Row]:
    """Yield p-values beside crepes."""
    crepes = _module(MODULES["crepes"])
    if crepes is None:
        return
    model, votes, _ = case.labelled()
    predictor = plausibly.calibrate(model, votes, calibrator="majority-vote")
    scores = 1 - case.calibration[np.arange(len(case.voted)), case.voted]

    def by_crepes() -> object:
        one = crepes.ConformalClassifier().fit(scores)
        return one.predict_p(1 - case.test, smoothing=False)

    calls = {"ours": lambda: predictor.p_values_array(case.test), "crepes": by_crepes}
    taken = in_turn(calls, rounds)
    yield Row(
        what=f"p-values of {case.test.size:,} scores, {len(scores):,} calibration examples",
        beside=f"crepes ({seconds(taken, 'crepes')})",
        ratio=ratio(taken, "crepes", "ours"),
        goal="crepes takes at least 100",
        note=f"ours {seconds(taken, 'ours')}",
    )


def rows(large: bool, rounds: int) -> Iterator[Row]:
    """Yield the rows of the table."""
    part = 1 if large else 10
    small, wide = Case.made(10**5 // part, 10), Case.made(10**4 // part, 1000)
    for score in ("probability", "aps"):
        for case in (small, wide):
            yield from sets(case, score, rounds)
    for case in (small, wide):
        yield scores_alone(case, rounds)
    yield from p_values(Case.made(10**4 // part, 10), rounds)
    yield from p_values(Case.made(10**3, 419), rounds)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--large", action="store_true", help="the sizes of the goals")
    parser.add_argument("--rounds", type=int, default=5)
    asked = parser.parse_args()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        show("Peers", rows(asked.large, asked.rounds), versions(PEERS))


if __name__ == "__main__":
    main()
