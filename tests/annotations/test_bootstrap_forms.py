"""Bootstrap around any aggregator, and what becomes of plausibilities that are drawn."""

from __future__ import annotations

from typing import ClassVar

import attrs
import numpy as np
import pytest
import xarray as xr

import plausibly
from plausibly.data.plausibilities import check_plausibilities, mean_over_draws
from plausibly.plugin import (
    AGGREGATOR,
    Aggregator,
    Keys,
    answered_rows,
    resolve,
)
from plausibly_builtins.label_set.sets import LabelSet
from plausibly_builtins.partial_ranking.annotation import PartialRanking
from plausibly_builtins.partial_ranking.points import InverseRank
from plausibly_builtins.resampling.bootstrap import Bootstrap
from plausibly_builtins.single_label.votes import LabelFrequency, SingleLabel
from refusals import refused

KEYS = Keys(0, "aggregator")
VOTES = SingleLabel().build(
    [("x", "q", "a"), ("x", "r", "b"), ("x", "s", "b"), ("y", "q", "c"), ("y", "r", "a")],
    ["c", "a", "b"],
)


@attrs.frozen(kw_only=True)
class Turned(Aggregator):
    """Label frequencies with examples and labels the other way round, drawn twice."""

    accepts: ClassVar[frozenset[str]] = frozenset({"single-label"})

    def aggregate(self, annotations: xr.Dataset, keys: Keys) -> xr.DataArray:
        """Return plausibilities (label, draw, example)."""
        found = LabelFrequency().aggregate(annotations, keys).drop_vars("denominator")
        turned = found.isel(example=slice(None, None, -1), label=slice(None, None, -1))
        return xr.concat([turned, 0 * turned + 1 / 3], "draw").transpose("label", ...)


@attrs.frozen(kw_only=True)
class Silence(Aggregator):
    """The share of empty answers on the first label."""

    accepts: ClassVar[frozenset[str]] = frozenset({"single-label"})

    def aggregate(self, annotations: xr.Dataset, keys: Keys) -> xr.DataArray:
        """Return plausibilities (example, label)."""
        rows = answered_rows(annotations, self.accepts)
        share = np.zeros((rows.n, rows.labels))
        empty = np.bincount(rows.example, weights=rows.mentions == 0, minlength=rows.n)
        share[:, 0] = empty / np.bincount(rows.example, minlength=rows.n)
        share[:, 1] = 1 - share[:, 0]
        return rows.plausibilities(share)


# ---- the inner aggregator


def test_inner_by_name_as_a_table_or_itself() -> None:
    table = {"name": "inverse-rank"}
    made = [
        Bootstrap(inner="inverse-rank", draws=3),
        Bootstrap(inner=table, draws=3),
        Bootstrap(inner=InverseRank(), draws=3),
        resolve(AGGREGATOR, {"name": "bootstrap", "inner": table, "draws": 3}),
    ]
    assert all(one == made[0] for one in made)
    found = plausibly.aggregate(VOTES, "bootstrap", inner="inverse-rank", draws=3, seed=4)
    assert found.identical(plausibly.aggregate(VOTES, made[1], seed=4))
    assert found.dims == ("draw", "example", "label")
    assert found["draw"].values.tolist() == [1, 2, 3]
    assert found["label"].values.tolist() == ["c", "a", "b"]
    assert found.name == "plausibilities"


def test_inner_is_the_default_of_the_kind() -> None:
    rankings = PartialRanking().build([("e", "q", ["a", "b"]), ("e", "r", ["b"])], ["a", "b"])
    for table, name in ((VOTES, "label-frequency"), (rankings, "inverse-rank")):
        one = plausibly.aggregate(table, "bootstrap")
        assert one.identical(plausibly.aggregate(table, "bootstrap", inner=name))
        assert one.sizes["draw"] == 10


def test_an_aggregator_that_draws_and_turns_names_round() -> None:
    plain = Bootstrap(inner=LabelFrequency()).aggregate(VOTES, KEYS)
    assert Bootstrap(inner=Turned()).aggregate(VOTES, KEYS).equals(plain.drop_vars("denominator"))


def test_empty_answers_are_kept_as_they_are() -> None:
    table = SingleLabel().build([("x", "q", "a"), ("x", "r", None), ("x", "s", "b")], ["a", "b"])
    found = Bootstrap(inner=Silence()).aggregate(table, KEYS)
    np.testing.assert_allclose(found.sel(label="a"), 1 / 3)


def test_what_the_inner_aggregator_does_not_read_is_refused() -> None:
    with refused("kind-unsuitable", "aggregator bootstrap does not read single-label"):
        plausibly.aggregate(VOTES, "bootstrap", inner="soft-label")


# ---- denominators


def test_votes_are_the_denominator_of_every_draw() -> None:
    found = Bootstrap().aggregate(VOTES, KEYS)
    assert found["denominator"].dims == ("example",)
    assert found["denominator"].values.tolist() == [3, 2]
    np.testing.assert_allclose(found * found["denominator"], np.rint(found * found["denominator"]))


def test_denominators_that_differ_have_a_common_multiple() -> None:
    records = [("e", "q", ["a"]), ("e", "r", ["a", "b"]), ("e", "s", ["a", "b", "c"])]
    found = Bootstrap(draws=50).aggregate(LabelSet().build(records, ["a", "b", "c"]), KEYS)
    assert found["denominator"].values.tolist() == [18]  # 3 votes times lcm(1, 2, 3)
    units = found.values * 18
    np.testing.assert_allclose(units, np.rint(units), atol=1e-9)
    assert check_plausibilities(found)["denominator"].values.tolist() == [18]


def test_a_multiple_that_is_too_large_is_left_out() -> None:
    labels = [f"l{k:02}" for k in range(48)]
    sizes = [11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47]  # their product is about 3e15
    records = [("e", f"q{size}", labels[:size]) for size in sizes]
    found = Bootstrap(draws=40).aggregate(LabelSet().build(records, labels), KEYS)
    assert "denominator" not in found.coords
    assert "denominator" not in Bootstrap(inner=InverseRank()).aggregate(VOTES, KEYS).coords


# ---- at the borders


DRAWN = plausibly.aggregate(VOTES, "bootstrap", draws=4)


def test_the_dim_draw_may_stand_anywhere() -> None:
    turned = DRAWN.transpose("label", "example", "draw")
    found = check_plausibilities(turned)
    assert found.dims == ("draw", "example", "label")
    assert found.values.flags.c_contiguous
    assert found.identical(check_plausibilities(DRAWN))
    single = check_plausibilities(DRAWN.astype(np.float32).drop_vars("draw"))
    assert single.dtype == np.float32


@pytest.mark.parametrize(
    ("value", "name", "piece"),
    [
        (np.nan, "numbers-not-finite", "NaN in 1 row (y)"),
        (-0.5, "plausibilities-negative", "1 of 2 rows below 0 (y)"),
        (0.9, "rows-do-not-sum", "1 of 2 rows sum to"),
    ],
)
def test_one_bad_draw_names_its_example(value: float, name: str, piece: str) -> None:
    values = DRAWN.values.copy()
    values[2, 1, 0] = value
    with refused(name, piece) as caught:
        check_plausibilities(DRAWN.copy(data=values))
    assert caught.value.details["examples"] == ["y"]


def test_a_denominator_that_does_not_fit_one_draw_goes() -> None:
    values = DRAWN.values.copy()
    values[3, 0] = [0.1, 0.4, 0.5]
    assert "denominator" not in check_plausibilities(DRAWN.copy(data=values)).coords


def test_the_mean_over_draws() -> None:
    mean = mean_over_draws(check_plausibilities(DRAWN))
    assert mean.dims == ("example", "label")
    assert set(mean.coords) == {"example", "label"}
    np.testing.assert_allclose(mean.values, DRAWN.values.mean(axis=0), rtol=1e-15)
    plain = plausibly.aggregate(VOTES)
    assert mean_over_draws(plain) is plain
