"""Labels in trees, and where what is said of a parent goes: in fractions, by recursion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

import xarray as xr
from hypothesis import strategies as st

from plausibly.plugin import ANNOTATION, resolve

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
    found = {name: Fraction(0) for name in tree if not children(tree, name)}
    for name, mass in row.items():
        for leaf in leaves(tree, name):
            found[leaf] += mass / len(leaves(tree, name))
    return found


def frequency(tree: Mapping[str, str], row: Row, unseen: Row | None = None) -> dict[str, Fraction]:
    """Give what each parent has to its leaves by what they have, from the lowest level up."""
    found = {name: row.get(name, Fraction(0)) for name in tree}

    def settle(name: str) -> None:
        for child in children(tree, name):
            settle(child)
        below = leaves(tree, name)
        if below == [name]:
            return
        shares = {leaf: found[leaf] for leaf in below}
        if not sum(shares.values()) and unseen is not None:
            shares = {leaf: unseen.get(leaf, Fraction(0)) for leaf in below}
        if not sum(shares.values()):
            shares = dict.fromkeys(below, Fraction(1))
        mass, found[name] = found[name], Fraction(0)
        for leaf, share in shares.items():
            found[leaf] += mass * share / sum(shares.values())

    for top in children(tree, ""):
        settle(top)
    return {name: mass for name, mass in found.items() if not children(tree, name)}


def frequencies(votes: Sequence[tuple[str, str]]) -> dict[str, dict[str, Fraction]]:
    """Return the shares of votes by example, of (example, label) votes."""
    found: dict[str, dict[str, Fraction]] = {}
    for example, label in votes:
        row = found.setdefault(example, {})
        row[label] = row.get(label, Fraction(0)) + 1
    return {
        example: {label: count / sum(row.values()) for label, count in row.items()}
        for example, row in found.items()
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
