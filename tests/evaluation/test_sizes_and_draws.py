"""Studies of several calibration sizes and numbers of draws: one result, the same test examples."""

from __future__ import annotations

import dataclasses
import json

import attrs
import numpy as np
import pytest

from plausibly import calibrate, compare
from plausibly.errors import InputError
from plausibly.evaluation import Study
from plausibly.evaluation.design import with_draws
from plausibly.evaluation.splits import nested, split, split_keys, split_seed
from plausibly.kernels.random import hash_names
from plausibly.plugin import (
    CALIBRATOR,
    CalibrationData,
    CalibrationScores,
    Calibrator,
    Keys,
    resolve,
)

from . import studies as oracle
from .studies import heard, quiet, sites

METHODS = [
    {"calibrator": "majority-vote"},
    {"calibrator": "monte-carlo", "combiner": "average"},
    {"calibrator": "monte-carlo", "combiner": "maximum"},
]


def test_every_cell_is_a_calibration_on_a_subset() -> None:
    predictions, lam = sites(80)
    study = quiet(
        predictions, lam, METHODS, alphas=[0.1, 0.3], splits=2, draws=[1, 4], sizes=[30, 10], seed=5
    )
    assert study["set_size"].dims == ("method", "split", "alpha", "draws", "size")
    assert study["draws"].values.tolist() == [1, 4]
    assert study["size"].values.tolist() == [30, 10]
    assert study["uses_draws"].values.tolist() == [False, True, True]
    hashes = hash_names(predictions["example"].values)
    for number in range(2):
        test = split(hashes, split_keys(5, number))
        assert study["n_test"][number] == test.sum() == 40
        rows = np.flatnonzero(~test)
        subsets = nested(hashes[rows], split_keys(5, number).child("size"), [30, 10])
        assert study["n_calibration"].sel(split=number).values.tolist() == [30, 10]
        for size, subset in zip((30, 10), subsets, strict=True):
            for draws in (1, 4):
                for place, method in enumerate(METHODS):
                    predictor = calibrate(
                        predictions[rows[subset]],
                        lam[rows[subset]],
                        seed=split_seed(5, number),
                        draws=draws if place else None,
                        calibrator=method["calibrator"],
                        combiner=method.get("combiner", "average"),
                    )
                    sizes = predictor.predict(predictions[test], [0.1, 0.3]).sum("label")
                    here = study["set_size"].isel(method=place, split=number)
                    np.testing.assert_allclose(
                        here.sel(size=size, draws=draws), sizes.mean("example"), rtol=1e-12
                    )


def test_dims_are_there_where_they_were_asked_for_and_change_no_cell() -> None:
    predictions, lam = sites(60)
    options: dict[str, object] = {"alphas": 0.2, "splits": 3, "cluster": "patient", "seed": 1}
    plain = quiet(predictions, lam, METHODS, **options)
    assert plain["set_size"].dims == ("method", "split", "alpha")
    assert plain["n_calibration"].dims == ("split",)
    assert not {"draws", "size", "uses_draws"} & set(plain.coords)
    by_draws = quiet(predictions, lam, METHODS, draws=[10, 2], **options)
    assert by_draws["set_size"].dims == ("method", "split", "alpha", "draws")
    by_size = quiet(predictions, lam, METHODS, sizes=30, **options)
    assert by_size["set_size"].dims == ("method", "split", "alpha", "size")
    # Ten draws are the default, and all of the calibration side has 30 examples in pairs.
    assert (by_size["n_calibration"] == 30).all()
    for one in (by_draws.sel(draws=10), by_size.isel(size=0)):
        for name in (
            "aggregated_coverage",
            "majority_vote_coverage",
            "set_size",
            "vacuous",
            "guaranteed",
        ):
            assert np.array_equal(one[name].values, plain[name].values)
        # In full they are those with the most draws and the largest size.
        assert one.attrs["guarantees"] == plain.attrs["guarantees"]


def test_groups_are_whole_in_every_size() -> None:
    predictions, lam = sites(60)
    study = quiet(predictions, lam, ["majority-vote"], splits=4, sizes=[7, 20], cluster="patient")
    assert (study["n_calibration"] == [6, 20]).all()
    with pytest.raises(InputError) as small:
        compare(predictions, lam, ["majority-vote"], splits=2, sizes=[1], cluster="patient")
    assert (small.value.name, small.value.details["size"]) == ("option-range", 1)


def test_a_warning_of_some_sizes_says_of_which() -> None:
    predictions, lam = sites(60)
    study, told = heard(
        lambda: (
            compare(
                predictions,
                lam,
                ["majority-vote", {"calibrator": "monte-carlo", "combiner": "maximum"}],
                splits=2,
                sizes=[5, 8, 20],
                draws=[1, 3],
            ).data
        )
    )
    assert [" ".join(one.partition("\n  expected")[0].split()) for one in told] == [
        "warning guarantee-vacuous: every set contains all labels at alpha 0.1 (at sizes 5, 8)"
    ]
    assert "'sizes': [5, 8]" in told[0]
    assert "'draws': [1, 3]" in told[0]
    assert study["guaranteed"].sel(size=5, draws=1).values.ravel().tolist() == [
        "nothing",
        "0.90, vacuous",
    ]
    _, told = heard(
        lambda: (
            compare(predictions, lam, ["majority-vote"], splits=2, sizes=[5, 20], alphas=0.1).data
        )
    )
    assert told[0].startswith(
        "warning guarantee-vacuous: every set contains all labels at alpha 0.1 (at size"
    )
    assert "(at size 5)" in " ".join(told[0].split())


def test_the_table_has_a_row_for_each_size_and_number_of_draws() -> None:
    predictions, lam = sites(60)
    study = quiet(predictions, lam, METHODS[:2], splits=2, alphas=0.2, sizes=[20, 30], draws=[1, 5])
    rows = [line.partition("  ")[0] for line in Study(study).lines()[2:8]]
    assert rows == [
        "majority-vote, n 20",
        "majority-vote, n 30",
        "monte-carlo…, n 20, m 1",
        "monte-carlo…, n 20, m 5",
        "monte-carlo…, n 30, m 1",
        "monte-carlo…, n 30, m 5",
    ]
    one = study.isel(draws=[0], size=[1])
    assert [line.split()[0] for line in Study(one).lines()[2:4]] == [
        "majority-vote,",
        "monte-carlo…,",
    ]


@attrs.frozen(kw_only=True)
class Wrapper:
    """A calibrator around another one."""

    inner: Calibrator = attrs.field(factory=lambda: resolve(CALIBRATOR, "monte-carlo"))
    other: str = "draws"

    def calibrate(self, data: CalibrationData, keys: Keys) -> CalibrationScores:
        """Return what the inner one gives."""
        return self.inner.calibrate(data, keys)


@dataclasses.dataclass(frozen=True)
class Plain:
    """A calibrator that is a dataclass."""

    draws: int = 3

    def calibrate(self, data: CalibrationData, keys: Keys) -> CalibrationScores:
        """Return what Monte Carlo gives."""
        inner = resolve(CALIBRATOR, {"name": "monte-carlo", "draws": self.draws})
        return inner.calibrate(data, keys)


class Bare:
    """A calibrator without parameters that anybody knows of."""

    draws = 3

    def calibrate(self, data: CalibrationData, keys: Keys) -> CalibrationScores:
        """Return what the expected one gives."""
        return resolve(CALIBRATOR, "expected").calibrate(data, keys)


def test_draws_reach_calibrators_inside_others() -> None:
    wrapped = with_draws(Wrapper(inner=Wrapper()), 4)
    assert wrapped == Wrapper(
        inner=Wrapper(inner=resolve(CALIBRATOR, {"name": "monte-carlo", "draws": 4}))
    )
    assert with_draws(Plain(), 7) == Plain(7)
    assert with_draws(Bare(), 7) is None
    assert with_draws(Wrapper(inner=resolve(CALIBRATOR, "expected")), 7) is None
    predictions, lam = oracle.world(40)
    methods = {"bare": {"calibrator": Bare()}, "plain": {"calibrator": Plain()}}
    wrapped_methods = {**methods, "wrapped": {"calibrator": Wrapper()}, "drawn": METHODS[1]}
    study = quiet(predictions, lam, wrapped_methods, splits=2, draws=[2, 5])
    assert study["uses_draws"].values.tolist() == [False, True, True, True]
    for name in ("plain", "wrapped"):
        one, other = (study["set_size"].sel({"method": which}) for which in (name, "drawn"))
        assert np.array_equal(one, other)
    assert json.loads(study.attrs["methods"])["wrapped"]["calibrator"] == "Wrapper"
