"""Parents: where what is said of them goes, against fractions worked out by recursion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np
import pytest
import xarray as xr
from hypothesis import given, settings, strategies as st

import plausibly
import plausibly.data.annotations
from plausibly.data.align import match_labels
from plausibly.data.names import name_texts
from plausibly.data.states import read_left_out
from plausibly.plugin import AGGREGATOR, ANNOTATION, resolve
from refusals import refused

Row = Mapping[str, Fraction]


@st.composite
def forests(draw: st.DrawFn, most: int = 8) -> dict[str, str]:
    """Names with their parents, the empty text at the top, in an order that tells nothing."""
    names = [f"k{number}" for number in range(draw(st.integers(2, most)))]
    parents = {name: draw(st.sampled_from(["", *names[:at]])) for at, name in enumerate(names)}
    order = draw(st.permutations(names))
    return {name: parents[name] for name in order}


def children(tree: Mapping[str, str], name: str) -> list[str]:
    """Return the labels directly below one."""
    return [label for label, parent in tree.items() if parent == name]


def leaves(tree: Mapping[str, str], name: str) -> list[str]:
    """Return the leaves below a label, itself where nothing is below."""
    below = children(tree, name)
    return [name] if not below else [leaf for child in below for leaf in leaves(tree, child)]


def uniform(tree: Mapping[str, str], row: Row) -> dict[str, Fraction]:
    """Give what each parent has to its leaves in equal shares."""
    result = {name: Fraction(0) for name in tree if not children(tree, name)}
    for name, mass in row.items():
        for leaf in leaves(tree, name):
            result[leaf] += mass / len(leaves(tree, name))
    return result


def frequency(tree: Mapping[str, str], row: Row, unseen: Row | None = None) -> dict[str, Fraction]:
    """Give what each parent has to its leaves by what they have, from the lowest level up."""
    result = {name: row.get(name, Fraction(0)) for name in tree}

    def settle(name: str) -> None:
        for child in children(tree, name):
            settle(child)
        below = leaves(tree, name)
        if below == [name]:
            return
        shares = {leaf: result[leaf] for leaf in below}
        if not sum(shares.values()) and unseen is not None:
            shares = {leaf: unseen.get(leaf, Fraction(0)) for leaf in below}
        if not sum(shares.values()):
            shares = dict.fromkeys(below, Fraction(1))
        mass, result[name] = result[name], Fraction(0)
        for leaf, share in shares.items():
            result[leaf] += mass * share / sum(shares.values())

    for top in children(tree, ""):
        settle(top)
    return {name: mass for name, mass in result.items() if not children(tree, name)}


def frequencies(votes: Sequence[tuple[str, str]]) -> dict[str, dict[str, Fraction]]:
    """Return the shares of votes by example, of (example, label) votes."""
    result: dict[str, dict[str, Fraction]] = {}
    for example, label in votes:
        row = result.setdefault(example, {})
        row[label] = row.get(label, Fraction(0)) + 1
    return {
        example: {label: count / sum(row.values()) for label, count in row.items()}
        for example, row in result.items()
    }


def table_of(
    tree: Mapping[str, str], votes: Sequence[tuple[str, object]], kind: str = "single-label"
) -> xr.Dataset:
    """Return the annotation table of answers by unknown annotators, with the parents."""
    records = [(example, None, answer) for example, answer in votes]
    table = resolve(ANNOTATION, kind).build(records, list(tree))
    return table.assign_coords(
        parent=("label", [tree[str(name)] for name in table["label"].values])
    )


TREE = {"dermatitis": "", "eczema": "dermatitis", "contact": "dermatitis", "tinea": ""}
DEEP = {
    "skin": "",
    "dermatitis": "skin",
    "contact": "dermatitis",
    "allergic": "contact",
    "irritant": "contact",
    "eczema": "dermatitis",
    "tinea": "skin",
    "other": "",
}


def exact(lam: xr.DataArray) -> dict[str, dict[str, Fraction]]:
    """Return plausibilities as the fractions that their denominators make of them."""
    result: dict[str, dict[str, Fraction]] = {}
    for example in lam["example"].values:
        row = lam.sel(example=example)
        units = {
            str(label): round(float(row.sel(label=label)) * int(row["denominator"]))
            for label in lam["label"].values
        }
        total = int(row["denominator"])
        for label, unit in units.items():
            assert float(row.sel(label=label)) == unit / total
        result[str(example)] = {label: Fraction(unit, total) for label, unit in units.items()}
    return result


@st.composite
def votes_in_trees(draw: st.DrawFn) -> tuple[dict[str, str], list[tuple[str, str]]]:
    tree = draw(forests())
    vote = st.tuples(st.sampled_from(["x", "y", "z"]), st.sampled_from(sorted(tree)))
    return tree, draw(st.lists(vote, min_size=1, max_size=12))


@settings(max_examples=40)
@given(votes_in_trees(), st.sampled_from(["uniform", "frequency"]))
def test_exact_shares(world: tuple[dict[str, str], list[tuple[str, str]]], policy: str) -> None:
    tree, votes = world
    lam = plausibly.aggregate(table_of(tree, votes), "spread", parents=policy)
    spread = {"uniform": uniform, "frequency": frequency}[policy]
    expected = {example: spread(tree, row) for example, row in frequencies(votes).items()}
    assert exact(lam) == expected
    assert name_texts(lam["label"].values) == [n for n in tree if not children(tree, n)]
    if any(tree.values()):
        assert lam.attrs["parents"] == policy


def test_shares_of_all_examples_are_joint() -> None:
    votes = [("x", "dermatitis"), ("y", "eczema"), ("z", "contact"), ("w", "contact")]
    table = table_of(TREE, votes)
    like = {"name": "spread", "parents": "frequency", "unseen": "overall"}
    lam = plausibly.aggregate(table, like)
    np.testing.assert_allclose(lam.sel(example="x").values, [1 / 3, 2 / 3, 0], rtol=1e-15)
    assert "denominator" not in lam.coords
    assert lam.attrs["joint"] == "spread"
    plain = plausibly.aggregate(table, "spread", parents="frequency")
    assert plain.sel(example="x").values.tolist() == [0.5, 0.5, 0]
    assert "joint" not in plain.attrs
    unanswered = plausibly.aggregate(table_of(TREE, [("x", "dermatitis")]), like)
    assert unanswered.values.tolist() == [[0.5, 0.5, 0]]
    assert resolve(AGGREGATOR, {"name": "spread", "inner": "dawid-skene"}).joint
    assert not resolve(AGGREGATOR, "spread").joint


@settings(max_examples=20)
@given(votes_in_trees())
def test_in_proportion_to_all_examples(world: tuple[dict[str, str], list[tuple[str, str]]]) -> None:
    tree, votes = world
    rows = frequencies(votes)
    overall = {
        name: sum((row.get(name, Fraction(0)) for row in rows.values()), Fraction(0))
        for name in tree
    }
    lam = plausibly.aggregate(
        table_of(tree, votes), "spread", parents="frequency", unseen="overall"
    )
    for example, row in rows.items():
        expected = frequency(tree, row, overall)
        result = lam.sel(example=example)
        for label, share in expected.items():
            assert abs(float(result.sel(label=label)) - share) < 1e-12


def test_dropped_parents_are_counted() -> None:
    votes = [("x", "dermatitis"), ("x", "eczema"), ("x", "tinea"), ("x", "tinea"), ("y", "tinea")]
    lam = plausibly.aggregate(table_of(TREE, votes), "spread", parents="drop")
    np.testing.assert_array_equal(lam.values, [[1 / 3, 0, 2 / 3], [0, 0, 1]])
    assert lam["denominator"].values.tolist() == [3, 1]
    assert read_left_out(lam.attrs) == {"named a label above others": 1}
    assert lam.attrs["parents"] == "drop"


VOTED = [("x", "tinea"), ("y", "dermatitis"), ("y", "eczema")]
REFUSED: list[tuple[dict[str, str], str, str]] = [
    ({"parents": "drop"}, "parents-alone", 'in 1 example | found z | "uniform" or "frequency"'),
    ({"parents": "error"}, "parents-named", '"dermatitis" | found 2 examples (y, z) | or "drop"'),
    ({"parents": "half"}, "component-parameter", "parents"),
    ({"unseen": "overall"}, "component-parameter", "no meaning"),
    ({"parents": "frequency", "unseen": "never"}, "component-parameter", "unseen"),
]


@pytest.mark.parametrize(("options", "name", "pieces"), REFUSED)
def test_parents_and_parameters_that_do_not_fit(
    options: dict[str, str], name: str, pieces: str
) -> None:
    with refused(name, *pieces.split(" | ")):
        table = table_of(TREE, [*VOTED, ("z", "dermatitis")])
        plausibly.aggregate(table, {"name": "spread", **options})
    fine = plausibly.aggregate(table_of(TREE, VOTED[:1]), "spread", parents="error")
    assert name_texts(fine["label"].values) == ["eczema", "contact", "tinea"]


INNER: list[tuple[str, Mapping[str, object], list[object]]] = [
    ("partial-ranking", {"name": "inverse-rank"}, [["dermatitis"], ["eczema", "tinea"]]),
    ("partial-ranking", {"name": "borda"}, [["dermatitis"], ["eczema", "tinea"]]),
    ("partial-ranking", {"name": "dirichlet", "draws": 3}, [["dermatitis"], ["tinea"]]),
    ("label-set", {"name": "label-set"}, ["dermatitis", "eczema"]),
    ("single-label", {"name": "majority-vote"}, ["dermatitis"]),
    ("single-label", {"name": "bootstrap", "draws": 3}, ["dermatitis"]),
    ("single-label", {"name": "dawid-skene"}, ["dermatitis"]),
]


# A resample may hold parents alone: without them nothing is left.
CASES = [
    pytest.param(*one, policy, id=f"{one[1]['name']}-{policy}")
    for one in INNER
    for policy in ("uniform", "frequency", "drop")
    if (one[1]["name"], policy) != ("bootstrap", "drop")
]


@pytest.mark.parametrize(("kind", "inner", "answer", "policy"), CASES)
def test_around_any_aggregator(
    kind: str, inner: Mapping[str, object], answer: list[object], policy: str
) -> None:
    """Spreading is done to what the inner aggregator gives, row by row and draw by draw."""
    answers = [answer[0] if kind == "single-label" else answer]
    answers += ["tinea", "eczema"] if kind == "single-label" else [["tinea"], ["contact"]]
    records = [("x", f"w{place}", one) for place, one in enumerate(answers)]
    records += [("y", "w1", answers[1]), ("y", "w2", answers[2])]
    table = resolve(ANNOTATION, kind).build(records, list(TREE))
    table = table.assign_coords(parent=("label", list(TREE.values())))
    before = plausibly.aggregate(table, inner)
    after = plausibly.aggregate(table, "spread", inner=inner, parents=policy)
    kept = before.sel(label=["eczema", "contact", "tinea"])
    mass = before.sel(label="dermatitis").values[..., None]
    below = kept.values * np.array([1, 1, 0])
    equal = np.broadcast_to([0.5, 0.5, 0], below.shape)
    if policy == "drop":
        expected = kept.values / kept.values.sum(axis=-1, keepdims=True)
    else:
        total = below.sum(axis=-1, keepdims=True)
        use = (policy == "frequency") & (total > 0)
        shares = np.where(use, below / np.where(total > 0, total, 1), equal)
        expected = kept.values + mass * shares
    assert after.dims == before.dims
    np.testing.assert_allclose(after.values, expected, rtol=1e-14, atol=0)
    np.testing.assert_allclose(after.values.sum(axis=-1), 1, rtol=1e-14)


def test_inside_a_bootstrap() -> None:
    votes = [("x", "dermatitis"), ("x", "eczema"), ("x", "tinea"), ("y", "tinea")]
    table = table_of(TREE, votes)
    inside = plausibly.aggregate(table, "bootstrap", inner="spread", draws=20)
    around = plausibly.aggregate(table, "spread", inner={"name": "bootstrap", "draws": 20})
    np.testing.assert_allclose(inside.values, around.values, rtol=1e-14)
    assert inside.attrs["parents"] == "uniform"
    assert name_texts(inside["label"].values) == ["eczema", "contact", "tinea"]


def test_units_beyond_a_float_leave_the_denominator_out() -> None:
    """Shares stay right where no whole number of units can be kept."""
    tree = {"top": "", **{f"k{n}": "top" for n in range(3)}}
    table = table_of(tree, [("x", "top"), ("x", "k0")])
    huge = 2.0**52 - 1  # prime to 3: three times as many units would be needed
    table = table.assign(response_weight=("response", [huge, 1.0]))
    table = plausibly.data.annotations.rebuilt(table)
    lam = plausibly.aggregate(table, "spread")
    assert "denominator" not in lam.coords
    assert abs(lam.values.sum() - 1) < 1e-12


def test_a_model_that_knows_one_of_two_parents() -> None:
    """A parent that the model predicts stays; the other one may be missing without answers."""
    wanted = ["tinea", "dermatitis", "allergic", "irritant", "eczema", "other"]
    known, unknown = (
        plausibly.aggregate(table_of(DEEP, [("x", named), ("x", "tinea")]))
        for named in ("dermatitis", "contact")
    )
    result = match_labels(known, wanted, source="votes", other="the model")
    assert name_texts(result["label"].values) == wanted
    assert result.values.tolist() == [[0.5, 0.5, 0, 0, 0, 0]]
    assert result["denominator"].values.tolist() == [2]
    with refused("parents-named") as caught:
        match_labels(unknown, wanted, source="votes", other="the model")
    assert caught.value.details == {"labels": ["contact"], "examples": ["x"]}


def test_labels_without_parents_are_as_they_were() -> None:
    table = resolve(ANNOTATION, "single-label").build([("x", None, "a")], ["a", "b"])
    xr.testing.assert_identical(plausibly.aggregate(table, "spread"), plausibly.aggregate(table))
    flat = table.assign_coords(parent=("label", ["", "elsewhere"]))
    assert plausibly.aggregate(flat, "spread").sizes["label"] == 2
