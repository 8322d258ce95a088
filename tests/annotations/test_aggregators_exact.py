"""Each aggregator against its equation in fractions, and bootstraps against all resamples."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable
from fractions import Fraction

import attrs
import numpy as np
import pytest
import xarray as xr
from hypothesis import given, settings, strategies as st
from scipy.stats import chisquare

import labelled_records as lr
import plausibly
from plausibly.data.annotations import rebuilt
from plausibly.data.plausibilities import check_plausibilities, mean_over_draws
from plausibly.plugin import AGGREGATOR, ANNOTATION, Aggregator, Annotation, Keys, Rows, resolve
from plausibly_builtins.label_set.sets import EqualSplit, LabelSet
from plausibly_builtins.partial_ranking.points import InverseRank, PartialRanking
from plausibly_builtins.resampling.bootstrap import Bootstrap
from plausibly_builtins.single_label.votes import LabelFrequency, MajorityVote, SingleLabel
from plausibly_builtins.soft_label.weights import SoftLabel, WeightedMean
from refusals import refused

KEYS = Keys(0, "aggregator")


def aggregated(
    kind: Annotation, aggregator: Aggregator, records: lr.Records, labels: list[str] = lr.LABELS
) -> xr.DataArray:
    return aggregator.aggregate(kind.build(records, labels), KEYS)


def same_bits(first: xr.DataArray, second: xr.DataArray) -> bool:
    """Compare by name, bit for bit."""
    aligned = second.sel(example=first["example"], label=first["label"])
    return bool(np.array_equal(first.values, aligned.values))


ANSWERS: dict[str, st.SearchStrategy[object]] = {
    "single-label": lr.single_labels,
    "partial-ranking": lr.rankings(),
    "label-set": lr.label_sets,
    "soft-label": lr.soft_labels,
}


@pytest.mark.parametrize(
    ("kind", "aggregator", "equation", "ulps", "counts"),
    [
        (SingleLabel(), LabelFrequency(), lr.label_frequency, 0, True),
        (PartialRanking(), InverseRank(), lr.inverse_rank, 0, False),
        (LabelSet(), EqualSplit(), lr.equal_split, 0, True),
        (SoftLabel(), WeightedMean(), lr.weighted_mean, 24, False),
    ],
    ids=lambda item: getattr(item, "name", ""),
)
@settings(max_examples=50)
@given(data=st.data())
def test_plausibilities_are_those_of_the_equation(
    kind: Annotation,
    aggregator: Aggregator,
    equation: Callable[[lr.Records], lr.Exact],
    ulps: int,
    counts: bool,
    data: st.DataObject,
) -> None:
    """In units of a denominator where answers are counted; of single labels it is the votes."""
    records = data.draw(lr.records(ANSWERS[kind.name]))
    result = aggregated(kind, aggregator, records)
    exact = equation(records)
    lr.assert_exact(result, exact, ulps=ulps)
    assert ("denominator" in result.coords) == counts
    if counts:
        lr.assert_denominators(result, exact)
    if kind.name == "single-label":
        votes = [sum(r[0] == e for r in records) for e in result["example"].values]
        assert result["denominator"].values.tolist() == votes


@settings(max_examples=50)
@given(lr.records(lr.single_labels))
def test_a_single_label_is_a_ranking_of_one_and_a_set_of_one(records: lr.Records) -> None:
    frequency = aggregated(SingleLabel(), LabelFrequency(), records)
    assert same_bits(frequency, aggregated(SingleLabel(), InverseRank(), records))
    split = aggregated(SingleLabel(), EqualSplit(), records)
    xr.testing.assert_identical(frequency, split)


def test_long_rankings_leave_the_exact_path_but_not_the_equation() -> None:
    labels = [f"l{k:02}" for k in range(50)]  # lcm(1..50) is about 3e21
    records: lr.Records = [("e", "r", labels), ("e", "q", labels[::-1]), ("f", "r", labels[7:])]
    result = aggregated(PartialRanking(), InverseRank(), records, labels)
    exact = lr.inverse_rank([(e, q, [[k] for k in r]) for e, q, r in records])  # type: ignore[attr-defined]  # lists
    lr.assert_exact(result, exact, ulps=16)
    assert same_bits(result, aggregated(PartialRanking(), InverseRank(), records[::-1], labels))


def test_many_set_sizes_leave_the_denominator_but_not_the_equation() -> None:
    labels = [f"l{k:02}" for k in range(60)]
    records: lr.Records = [("e", f"r{size}", labels[:size]) for size in range(1, 60)]
    result = aggregated(LabelSet(), EqualSplit(), records, labels)
    lr.assert_exact(result, lr.equal_split(records), ulps=16)
    assert "denominator" not in result.coords


EVERY = [
    ("single-label", {"name": "label-frequency"}),
    ("single-label", {"name": "majority-vote"}),
    ("single-label", {"name": "majority-vote", "ties": "random"}),
    ("single-label", {"name": "dawid-skene", "iterations": 20}),
    ("single-label", {"name": "one-coin", "iterations": 20}),
    ("single-label", {"name": "worker-agreement"}),
    ("single-label", {"name": "weighted-vote", "others": 0.7}),
    ("single-label", {"name": "bootstrap", "draws": 3, "inner": "majority-vote"}),
    ("partial-ranking", {"name": "inverse-rank"}),
    ("partial-ranking", {"name": "borda"}),
    ("partial-ranking", {"name": "plackett-luce"}),
    ("partial-ranking", {"name": "dirichlet", "draws": 3}),
    ("partial-ranking", {"name": "plackett-luce-draws", "draws": 3, "warm_up": 5}),
    ("label-set", {"name": "label-set"}),
    ("soft-label", {"name": "soft-label"}),
    ("soft-label", {"name": "bootstrap", "draws": 3}),
]


@pytest.mark.filterwarnings("ignore::plausibly.PlausiblyWarning")
@pytest.mark.parametrize(("kind", "table"), EVERY, ids=str)
@settings(max_examples=8)
@given(data=st.data())
def test_no_order_other_example_or_further_draw_changes_a_bit(
    kind: str, table: dict[str, object], data: st.DataObject
) -> None:
    build, aggregator = resolve(ANNOTATION, kind).build, resolve(AGGREGATOR, table)
    records = data.draw(lr.records(ANSWERS[kind]))
    result = aggregator.aggregate(build(records, lr.LABELS), KEYS)
    shuffled = data.draw(st.permutations(records))
    if "draws" not in table and not aggregator.joint:  # else annotators count in their order
        renamed = dict(zip(lr.ANNOTATORS, data.draw(st.permutations(lr.ANNOTATORS)), strict=True))
        shuffled = [(e, renamed.get(str(q)), answer) for e, q, answer in shuffled]
    labels = data.draw(st.permutations(lr.LABELS))
    another = aggregator.aggregate(build(shuffled, labels), KEYS)
    assert another["label"].values.tolist() == labels
    assert same_bits(result, another)
    if not aggregator.joint:
        part = [record for record in records if str(record[0]) == str(records[0][0])]
        alone = aggregator.aggregate(build(part, lr.LABELS), KEYS)
        assert same_bits(alone, result)
    if "draws" in table:
        more = resolve(AGGREGATOR, {**table, "draws": 5})
        longer = more.aggregate(build(records, lr.LABELS), KEYS)
        assert same_bits(result, longer.isel(draw=slice(3)))


@given(lr.records(lr.single_labels), st.sampled_from(["first", "random", "fractional"]))
def test_majority_vote_credits_only_winners(records: lr.Records, ties: str) -> None:
    result = aggregated(SingleLabel(), MajorityVote(ties=ties), records)  # type: ignore[arg-type]  # drawn
    exact: lr.Exact = {}
    for example, row in lr.label_frequency(records).items():
        winners = [k for k in lr.LABELS if row.get(k) == max(row.values())]
        if ties == "random":
            chosen = result.sel(example=example)
            winners = [k for k in winners if float(chosen.sel(label=k))]
            assert len(winners) == 1
        winners = winners[:1] if ties == "first" else winners
        exact[example] = {k: Fraction(1, len(winners)) for k in winners}
    lr.assert_exact(result, exact)
    lr.assert_denominators(result, exact)


def test_random_ties_belong_to_the_example_and_the_seed() -> None:
    records: lr.Records = [
        (f"e{i}", q, k) for i in range(2000) for q, k in (("r", "a"), ("q", "b"))
    ]
    table = SingleLabel().build(records, ["a", "b"])
    vote = MajorityVote(ties="random")
    first = vote.aggregate(table, Keys(1))
    assert 0.45 < float(first.sel(label="a").mean()) < 0.55
    fewer = vote.aggregate(SingleLabel().build(records[1000:], ["a", "b"]), Keys(1))
    assert same_bits(fewer, first)
    assert not same_bits(first, vote.aggregate(table, Keys(2)))


def test_votes_that_are_not_whole_tie_to_twelve_digits() -> None:
    votes = SingleLabel().build([("e", None, label) for label in "aab"], ["a", "b"])
    # 0.1 + 0.2 is not 0.3
    table = rebuilt(votes.assign(response_weight=("response", [0.1, 0.2, 0.3])))
    result = MajorityVote().aggregate(table, KEYS)
    assert result.values.tolist() == [[0.5, 0.5]]
    shares = LabelFrequency().aggregate(table, KEYS)
    assert "denominator" not in shares.coords
    np.testing.assert_allclose(shares.values, [[0.5, 0.5]], rtol=1e-15)


# ---- bootstrapped plausibilities


RANKINGS: list[list[list[str]]] = [[["a"], ["b"], ["c"]], [["a"]], [["b"]]]
Row = tuple[Fraction, ...]


def enumerated(rankings: list[list[list[str]]], labels: str) -> dict[Row, Fraction]:
    """Return the inverse ranks of every resample of the rankings, with their chances."""
    chances: dict[Row, Fraction] = Counter()  # type: ignore[assignment]  # counts fractions
    size = len(rankings)
    for resample in itertools.product(rankings, repeat=size):
        exact = lr.inverse_rank([("e", None, ranking) for ranking in resample])["e"]
        row = tuple(exact.get(label, Fraction(0)) for label in labels)
        chances[row] += Fraction(1, size**size)
    return chances


# ---- what is drawn


def test_every_resample_comes_with_its_chance() -> None:
    chances = enumerated(RANKINGS, "abc")
    assert sum(chances.values()) == 1
    plain = lr.inverse_rank([("e", None, ranking) for ranking in RANKINGS])["e"]
    assert [round(float(plain[k]), 3) for k in "abc"] == [0.522, 0.391, 0.087]
    mean = [sum(p * row[k] for row, p in chances.items()) for k in range(3)]
    assert [round(float(share), 3) for share in mean] == [0.519, 0.404, 0.077]

    examples, answers = range(3000), list(enumerate(RANKINGS))
    records: lr.Records = [
        (f"e{n}", f"q{place}", said) for n in examples for place, said in answers
    ]
    table = PartialRanking().build(records, [*"abc"])
    result = Bootstrap(inner=InverseRank(), draws=2).aggregate(table, KEYS)
    assert dict(result.sizes) == {"draw": 2, "example": 3000, "label": 3}
    expected = {tuple(round(float(x), 9) for x in row): float(p) for row, p in chances.items()}
    for draw in (1, 2):
        seen = Counter(tuple(row) for row in result.sel(draw=draw).values.round(9).tolist())
        assert set(seen) == set(expected)
        counts = [seen[row] for row in expected]
        assert chisquare(counts, [3000 * p for p in expected.values()]).pvalue > 1e-3
    # Draws of an example are independent: the share of equal pairs is that of chance.
    equal = (result.sel(draw=1) == result.sel(draw=2)).all("label").mean()
    assert abs(float(equal) - sum(p**2 for p in expected.values())) < 0.03
    error = np.abs(result.values.mean(axis=(0, 1)) - [float(share) for share in mean])
    assert error.max() < 4 * 0.25 / np.sqrt(6000)


@pytest.mark.parametrize(
    ("kind", "inner", "answers"),
    [
        (SingleLabel(), MajorityVote(ties="random"), lr.single_labels),
        (PartialRanking(), InverseRank(), lr.rankings()),
        (SoftLabel(), WeightedMean(), lr.soft_labels),
    ],
    ids=lambda item: getattr(item, "name", ""),
)
@settings(max_examples=8)
@given(data=st.data())
def test_a_resample_is_one_of_those_that_there_are(
    kind: Annotation,
    inner: Aggregator,
    answers: st.SearchStrategy[object],
    data: st.DataObject,
) -> None:
    """All labels of a response come with it, or none."""
    given = data.draw(st.lists(answers, min_size=1, max_size=3))
    records: lr.Records = [("e", f"q{place}", answer) for place, answer in enumerate(given)]
    result = Bootstrap(inner=inner, draws=2).aggregate(kind.build(records, lr.LABELS), KEYS)
    streams = [KEYS.child(f"bootstrap-{draw}").child("inner") for draw in (1, 2)]
    possible = []
    for resample in itertools.product(given, repeat=len(given)):
        again: lr.Records = [("e", f"q{place}", answer) for place, answer in enumerate(resample)]
        alone = kind.build(again, lr.LABELS)
        possible.append([inner.aggregate(alone, stream).values[0] for stream in streams])
    for draw, values in enumerate(result.values[:, 0]):
        assert min(np.abs(values - rows[draw]).max() for rows in possible) < 1e-12


# ---- weights


def weighted_votes(weights: list[float], examples: int) -> xr.Dataset:
    """Return a table in which everybody about an example says another label, with a weight."""
    labels = "abcdef"[: len(weights)]
    records: lr.Records = [(f"e{n}", None, label) for n in range(examples) for label in labels]
    table = SingleLabel().build(records, [*labels])
    return rebuilt(table.assign(response_weight=("response", np.tile(weights, examples))))


@attrs.frozen(kw_only=True)
class Spy(LabelFrequency):
    """Keeps the tables that it is given, for the test to see."""

    seen: list[xr.Dataset] = attrs.field(factory=list, eq=False)

    def aggregate(self, annotations: xr.Dataset, keys: Keys) -> xr.DataArray:
        """Return label frequencies."""
        self.seen.append(annotations)
        return super().aggregate(annotations, keys)


def test_weights_that_are_not_whole_are_chances() -> None:
    weights = [0.5, 0.25, 1.5]
    spy = Spy()
    result = Bootstrap(inner=spy).aggregate(weighted_votes(weights, 2000), KEYS)
    assert "denominator" not in result.coords
    np.testing.assert_allclose(
        result.values.mean(axis=(0, 1)), np.array(weights) / 2.25, atol=4 * 0.29 / np.sqrt(20_000)
    )
    # three responses per example are drawn, and the total stays
    np.testing.assert_allclose(result.values * 3, np.rint(result.values * 3), atol=1e-12)
    total = np.bincount(
        spy.seen[0]["response_example"].values, weights=spy.seen[0]["response_weight"].values
    )
    np.testing.assert_allclose(total, 2.25)


def test_one_example_with_broken_weights_changes_no_other() -> None:
    whole = weighted_votes([3.0, 2.0], 5)
    weight = whole["response_weight"].values.copy()
    weight[-1] = 0.5
    broken = rebuilt(whole.assign(response_weight=("response", weight)))
    first, second = (Bootstrap().aggregate(table, KEYS) for table in (whole, broken))
    np.testing.assert_array_equal(first.values[:, :4], second.values[:, :4])


def test_a_response_of_weight_zero_is_never_drawn() -> None:
    result = Bootstrap(draws=20).aggregate(weighted_votes([2.0, 0.0, 3.0], 50), KEYS)
    assert (result.sel(label="b") == 0).all()


VOTES = SingleLabel().build(
    [("x", "q", "a"), ("x", "r", "b"), ("x", "s", "b"), ("y", "q", "c"), ("y", "r", "a")],
    ["c", "a", "b"],
)


# ---- the inner aggregator


def test_inner_is_named_or_the_default_of_the_kind() -> None:
    rankings = PartialRanking().build([("e", "q", ["a", "b"]), ("e", "r", ["b"])], ["a", "b"])
    for table, name in ((VOTES, "label-frequency"), (rankings, "inverse-rank")):
        item = plausibly.aggregate(table, "bootstrap", seed=4)
        assert item.identical(plausibly.aggregate(table, "bootstrap", inner=name, seed=4))
        inner = Bootstrap(inner={"name": name})
        assert item.identical(plausibly.aggregate(table, inner, seed=4))
        assert (item.dims, item.name) == (("draw", "example", "label"), "plausibilities")
        assert item["draw"].values.tolist() == list(range(1, 11))
        assert item["label"].values.tolist() == table["label"].values.tolist()


def test_empty_answers_are_kept_as_they_are() -> None:
    table = SingleLabel().build([("x", "q", "a"), ("x", "r", None), ("x", "s", "b")], ["a", "b"])
    spy = Spy()
    Bootstrap(inner=spy, draws=10).aggregate(table, KEYS)
    assert [sorted(Rows.of(seen).mentions.tolist()) for seen in spy.seen] == [[0, 1, 1]] * 10


def test_kinds_that_the_inner_aggregator_does_not_read_are_refused() -> None:
    with refused("kind-unsuitable", "aggregator bootstrap does not read single-label"):
        plausibly.aggregate(VOTES, "bootstrap", inner="soft-label")


# ---- denominators


SETS = LabelSet().build(
    [("e", "q", ["a"]), ("e", "r", ["a", "b"]), ("e", "s", ["a", "b", "c"])], ["a", "b", "c"]
)


@pytest.mark.parametrize(
    ("table", "denominator"),
    [
        pytest.param(VOTES, [3, 2], id="votes"),
        pytest.param(SETS, [18], id="3 votes times lcm(1, 2, 3)"),
    ],
)
def test_a_denominator_of_every_draw(table: xr.Dataset, denominator: list[int]) -> None:
    result = Bootstrap(draws=50).aggregate(table, KEYS)
    assert result["denominator"].dims == ("example",)
    assert result["denominator"].values.tolist() == denominator
    units = result.values * np.array(denominator)[:, None]
    np.testing.assert_allclose(units, np.rint(units), atol=1e-9)
    assert check_plausibilities(result)["denominator"].values.tolist() == denominator


def test_a_multiple_that_is_too_large_is_left_out() -> None:
    labels = [f"l{k:02}" for k in range(48)]
    sizes = [11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47]  # their product is about 3e15
    records = [("e", f"q{size}", labels[:size]) for size in sizes]
    result = Bootstrap(draws=40).aggregate(LabelSet().build(records, labels), KEYS)
    assert "denominator" not in result.coords
    assert "denominator" not in Bootstrap(inner=InverseRank()).aggregate(VOTES, KEYS).coords


# ---- at the borders


DRAWN = plausibly.aggregate(VOTES, "bootstrap", draws=4)


def test_the_dim_draw_may_stand_anywhere() -> None:
    turned = DRAWN.transpose("label", "example", "draw")
    result = check_plausibilities(turned)
    assert result.dims == ("draw", "example", "label")
    assert result.values.flags.c_contiguous
    assert result.identical(check_plausibilities(DRAWN))
    single = check_plausibilities(DRAWN.astype(np.float32).drop_vars("draw"))
    assert single.dtype == np.float32


@pytest.mark.parametrize(
    ("value", "name", "piece"),
    [
        (np.nan, "numbers-not-finite", "rows hold NaN or infinite numbers (y)"),
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
