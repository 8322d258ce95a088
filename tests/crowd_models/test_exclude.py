"""Responses of some annotators left out: by name, by their number, by what they are worth."""

from __future__ import annotations

import json
from typing import Any

import pytest
import xarray as xr

import plausibly
from crowd_models_worlds import quiet, table_of
from plausibly.data.states import read_left_out
from plausibly.errors import InputError
from plausibly.plugin import AGGREGATOR, ANNOTATION, resolve
from refusals import refused, warned

# dan says x to everything, eve means the opposite, fay answers once.
VOTES = {
    "ann": "xyxyy",
    "bob": "xyxyy",
    "cat": "xyxyy",
    "dan": "xxxxx",
    "eve": "yxyxx",
    "fay": "x----",
}
RECORDS = [
    (f"t{at}", who, label, 1)
    for who, said in VOTES.items()
    for at, label in enumerate(said)
    if label != "-"
]
TABLE = table_of(RECORDS, labels="xyz")


def without(*annotators: str) -> xr.Dataset:
    """Return the table without the responses of some, in which they still stand."""
    return table_of([one for one in RECORDS if one[1] not in annotators], labels="xyz")


def excluded(found: xr.DataArray) -> dict[str, str]:
    told: dict[str, str] = json.loads(found.attrs["excluded"])
    return told


RULES: list[tuple[dict[str, Any], dict[str, str], bool]] = [  # Any: parameters, by name
    ({"annotators": ["dan", "eve"]}, {"dan": "named", "eve": "named"}, False),
    ({"fewer_than": 2}, {"fay": "1 of 2 answers"}, True),
    # Agreement with the majority: ann, bob, cat and fay always, dan 2/5, eve never.
    (
        {"below": 0.45},
        {"dan": "weight 0.40, below 0.45", "eve": "weight 0.00, below 0.45"},
        True,
    ),
    # Weights are of those whom the other rules leave: of five examples, three are tied then.
    (
        {
            "annotators": ["ann"],
            "fewer_than": 2,
            "below": 0.45,
            "inner": "worker-agreement",
        },
        {"ann": "named", "eve": "weight 0.30, below 0.45", "fay": "1 of 2 answers"},
        True,
    ),
    ({"fewer_than": 1, "below": 1e-9}, {"eve": "weight 0.00, below 1e-09"}, True),
]


@pytest.mark.parametrize(("rules", "reasons", "joint"), RULES)
# Any: as above
def test_who_is_left_out(rules: dict[str, Any], reasons: dict[str, str], joint: bool) -> None:
    found = plausibly.aggregate(TABLE, {"name": "exclude", **rules})
    left = plausibly.aggregate(without(*reasons), rules.get("inner"))
    xr.testing.assert_equal(found, left)
    assert excluded(found) == reasons
    gone = sum(1 for one in RECORDS if one[1] in reasons)
    assert read_left_out(found.attrs) == {"responses by excluded annotators": gone}
    assert found.attrs.get("joint") == ("exclude" if joint else None)


def test_another_aggregator_tells_who_is_worth_less() -> None:
    by = {"name": "dawid-skene", "smoothing": 0.1}
    assert list(excluded(plausibly.aggregate(TABLE, "exclude", below=0.45, by=by))) == [
        "dan",
        "eve",
    ]


def test_nobody_is_below() -> None:
    found = plausibly.aggregate(without("eve"), "exclude", below=1e-9)
    assert "excluded" not in found.attrs
    assert "left_out" not in found.attrs


def test_rankings_by_name_and_number() -> None:
    said = [("x", "a", ["p", "q"]), ("x", "b", ["q", "p"]), ("y", "b", ["p"])]
    table = resolve(ANNOTATION, "partial-ranking").build(said, None)
    found = plausibly.aggregate(table, "exclude", annotators=["a"], inner="plackett-luce")
    xr.testing.assert_equal(
        found.drop_attrs(), plausibly.aggregate(build(said[1:]), "plackett-luce").drop_attrs()
    )
    xr.testing.assert_equal(
        plausibly.aggregate(table, "exclude", fewer_than=2), plausibly.aggregate(build(said[1:]))
    )
    with pytest.raises(InputError, match="exclude does not read partial-ranking"):
        plausibly.aggregate(table, "exclude", below=0.5)


def build(said: list[tuple[str, str, list[str]]]) -> xr.Dataset:
    return resolve(ANNOTATION, "partial-ranking").build(said, ["p", "q"])


def test_whether_it_is_joint() -> None:
    for table, joint in (({"fewer_than": 1}, False), ({"inner": "one-coin"}, True)):
        assert resolve(AGGREGATOR, {"name": "exclude", **table}).joint is joint


def test_examples_that_lose_all_annotators() -> None:
    table = table_of([*RECORDS, ("t9", "dan", "x", 1)], labels="xyz")
    both = ["dan", "eve"]
    with refused("annotators-needed", 'hint lost = "keep" keeps all responses of these'):
        plausibly.aggregate(table, "exclude", annotators=both)
    with warned("annotators-needed", "1 of 6 examples (t9)", 'hint lost = "error" refuses them'):
        found = plausibly.aggregate(table, "exclude", annotators=both, lost="keep")
    assert float(found.sel(example="t9", label="x")) == 1.0
    assert read_left_out(found.attrs) == {"responses by excluded annotators": 10}
    # Weights are estimated from what is left all the same.
    with quiet():
        other = plausibly.aggregate(table, "exclude", annotators=["dan"], below=0.3, lost="keep")
    assert list(excluded(other)) == both


def test_no_rule_excludes_no_annotator() -> None:
    with warned("exclude-unused", "fewer_than = 5 or below = 0.5"):
        found = plausibly.aggregate(TABLE, "exclude")
    xr.testing.assert_equal(found, plausibly.aggregate(TABLE))


@pytest.mark.parametrize(
    ("parameters", "name", "piece"),
    [
        ({"annotators": ["dana", "eve"]}, "annotators-unknown", "hint did you mean dan?"),
        ({"below": 0.5, "by": "label-frequency"}, "reliability-none", 'by = "worker-agreement"'),
        ({"below": 0.0}, "component-parameter", "below"),
        ({"fewer_than": -1}, "component-parameter", "fewer_than"),
        ({"lost": "drop"}, "component-parameter", "lost"),
        ({"annotators": "dan"}, "component-parameter", "annotators"),
    ],
)
def test_parameters_are_checked(parameters: dict[str, object], name: str, piece: str) -> None:
    with refused(name, piece):
        plausibly.aggregate(TABLE, {"name": "exclude", **parameters})
