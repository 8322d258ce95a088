"""Tables of annotators, and aggregation without some of them."""

from __future__ import annotations

import json
from typing import Any

import attrs
import numpy as np
import pytest
import xarray as xr

import plausibly
from call_files import each_call
from crowd_models_worlds import crowd, table_of
from plausibly.annotators.reliability import ReliabilityTable
from plausibly.data.annotations import rebuilt
from plausibly.data.states import read_left_out
from plausibly.errors import InputError, PlausiblyWarning
from plausibly.plugin import ANNOTATION, resolve
from plausibly_builtins.single_label.votes import LabelFrequency
from refusals import quiet, refused, warned

NAMES = ("dawid-skene", "one-coin", "worker-agreement")

# dan says x to everything, eve means the opposite, fay answers once.
ANSWERS = {
    "ann": "xyxyy",
    "bob": "xyxyy",
    "cat": "xyxyy",
    "dan": "xxxxx",
    "eve": "yxyxx",
    "fay": "x----",
}
RECORDS = [
    (f"t{at}", who, label, 1)
    for who, stated in ANSWERS.items()
    for at, label in enumerate(stated)
    if label != "-"
]
TABLE = table_of(RECORDS, labels="xyz")


def table_with_idle() -> xr.Dataset:
    """Return the table with one who was asked and did not answer."""
    records = [*((e, q, k) for e, q, k, _ in RECORDS), ("t0", "idle", None)]
    return resolve(ANNOTATION, "single-label").build(records, list("xyz"))


@pytest.mark.parametrize("name", NAMES)
def test_the_columns_are_the_same_for_all(name: str) -> None:
    table = table_with_idle()
    report = plausibly.reliability(table, name)
    assert isinstance(report, ReliabilityTable)
    assert report["annotator"].values.tolist() == table["annotator"].values.tolist()
    assert report["responses"].dtype == np.int64
    of = report.set_coords("annotator").sel
    assert int(of(annotator="ann")["responses"]) == 5
    assert int(of(annotator="idle")["responses"]) == 0
    assert np.isnan(float(of(annotator="idle")["weight"]))
    assert float(of(annotator="ann")["weight"]) > 0.99
    assert float(of(annotator="dan")["weight"]) == pytest.approx(2 / 5, abs=0.01)
    assert str(of(annotator="dan")["note"].values).startswith('says "x" to 100%')
    assert str(of(annotator="idle")["note"].values) == "no response"
    assert str(of(annotator="ann")["note"].values) == ""
    assert ("confusion" in report) == (name == "dawid-skene")
    assert report.attrs["aggregator"] == name


def test_many_annotators_and_unknown_ones_in_print() -> None:
    result = crowd(np.random.default_rng(0), examples=300, annotators=14, labels=3, each=5)
    codes = result.table["response_annotator"].values.copy()
    codes[:120] = -1
    built = result.table.assign(response_annotator=("response", codes))
    with quiet():
        report = plausibly.reliability(rebuilt(built), "one-coin")
    lines = repr(report).splitlines()
    weights = np.sort(report["weight"].values)
    assert lines[0].startswith("reliability  14 annotators, by one-coin, converged after ")
    assert len(lines) == 2 + 10 + 2
    span = [f"{weight:.2f}" for weight in (weights[10], weights[-1])]
    assert lines[-2] == f"4 other annotators, {span[0]} to {span[1]}"
    unknown = f"{report.attrs['unknown_weight']:.2f}"
    assert lines[-1] == f"120 responses of unknown annotators, taken as one: weight {unknown}"
    with pytest.warns(PlausiblyWarning, match="not-converged"):
        stopped = plausibly.reliability(result.table, "dawid-skene", iterations=1)
    assert "NOT converged after 1 iteration\n" in repr(stopped)


def test_the_table_and_a_part_of_it_in_print() -> None:
    report = plausibly.reliability(table_with_idle(), "one-coin")
    assert repr(report.isel(annotator=[0])).count("\n") == 2
    assert repr(report).splitlines()[-1] == "idle               0       -   no response"
    page = report._repr_html_()
    assert "<pre>reliability  7 annotators" in page
    assert "says &quot;x&quot;" in page
    assert "Dimensions" in repr(report[["weight"]])
    assert "<pre>reliability" not in report[["weight"]]._repr_html_()
    assert "Dimensions" in repr(report.isel(annotator=0))


def test_weights_that_are_no_whole_numbers() -> None:
    table = table_of([("a", "q", "Ä", 2), ("b", "q", "b c", 1), ("b", "r1", "b c", 1)])
    half = rebuilt(table.assign(response_weight=table["response_weight"] / 2))
    report = plausibly.reliability(half, "one-coin")
    assert report["responses"].values.tolist() == [1.5, 0.5]
    assert "q                1.5 " in repr(report)


@pytest.mark.parametrize(
    "aggregator", [{"name": "bootstrap", "inner": "one-coin"}, "label-frequency"]
)
def test_an_aggregator_without_reliability(aggregator: str | dict[str, object]) -> None:
    with refused("reliability-none", "hint dawid-skene, one-coin or worker-agreement, which do"):
        plausibly.reliability(table_with_idle(), aggregator)


@attrs.frozen(kw_only=True)
class Odd(LabelFrequency):
    """Tells of annotators in a way that cannot be read."""

    answer: Any = None  # Any: what a plugin might return

    def reliability(self, annotations: xr.Dataset) -> Any:  # Any: what it gives is the mistake
        return self.answer


def test_a_plugin_may_order_annotators_as_it_likes() -> None:
    table = table_with_idle()
    turned = table["annotator"].values[::-1]
    answer = xr.Dataset({"weight": ("annotator", np.arange(7.0))}, coords={"annotator": turned})
    report = plausibly.reliability(table, Odd(answer=answer))
    assert report["weight"].values.tolist() == [6, 5, 4, 3, 2, 1, 0]
    assert report["annotator"].values.tolist() == table["annotator"].values.tolist()


def test_unknown_annotators_are_one_annotator_or_refused() -> None:
    table = table_of(RECORDS, labels="xyz", anonymous=["ann"])
    with warned("annotators-anonymous", "5 responses of unknown annotators", 'unknown = "error"'):
        plausibly.aggregate(table, "one-coin")
    left = plausibly.select_annotations(table, annotator=table["annotator"].values)
    plausibly.aggregate(left, "one-coin", unknown="error")
    table = table_of(RECORDS, labels="xyz", anonymous=list(ANSWERS))
    with refused("annotators-anonymous", 'unknown = "together" takes them as one annotator'):
        plausibly.aggregate(table, "dawid-skene", unknown="error")


def without(*annotators: str) -> xr.Dataset:
    """Return the table without the responses of some, in which they still stand."""
    return table_of([item for item in RECORDS if item[1] not in annotators], labels="xyz")


def excluded(result: xr.DataArray) -> dict[str, str]:
    report: dict[str, str] = json.loads(result.attrs["excluded"])
    return report


RULES: list[tuple[dict[str, Any], dict[str, str], bool]] = [  # Any: parameters, by name
    ({"annotators": ["dan", "eve"]}, {"dan": "named", "eve": "named"}, False),
    ({"fewer_than": 2}, {"fay": "1 of 2 answers"}, True),
    # Agreement with the majority: ann, bob, cat and fay always, dan 2/5, eve never.
    ({"below": 0.45}, {"dan": "weight 0.40, below 0.45", "eve": "weight 0.00, below 0.45"}, True),
    # Weights are of those whom the other rules leave: of five examples, three are tied then.
    (
        {"annotators": ["ann"], "fewer_than": 2, "below": 0.45, "inner": "worker-agreement"},
        {"ann": "named", "eve": "weight 0.30, below 0.45", "fay": "1 of 2 answers"},
        True,
    ),
    ({"fewer_than": 1, "below": 1e-9}, {"eve": "weight 0.00, below 1e-09"}, True),
    (
        {"below": 0.45, "by": {"name": "dawid-skene", "smoothing": 0.1}},
        {"dan": "weight 0.40, below 0.45", "eve": "weight 0.00, below 0.45"},
        True,
    ),
]


@pytest.mark.parametrize(("rules", "reasons", "joint"), RULES)
# Any: as above
def test_who_is_left_out(rules: dict[str, Any], reasons: dict[str, str], joint: bool) -> None:
    result = plausibly.aggregate(TABLE, {"name": "exclude", **rules})
    left = plausibly.aggregate(without(*reasons), rules.get("inner"))
    xr.testing.assert_equal(result, left)
    assert excluded(result) == reasons
    gone = sum(1 for item in RECORDS if item[1] in reasons)
    assert read_left_out(result.attrs) == {"responses by excluded annotators": gone}
    assert result.attrs.get("joint") == ("exclude" if joint else None)


def test_no_annotator_below_the_weight_leaves_no_trace() -> None:
    result = plausibly.aggregate(without("eve"), "exclude", below=1e-9)
    assert "excluded" not in result.attrs
    assert "left_out" not in result.attrs


def test_rankings_by_name_and_number() -> None:
    stated = [("x", "a", ["p", "q"]), ("x", "b", ["q", "p"]), ("y", "b", ["p"])]
    table, second = (
        resolve(ANNOTATION, "partial-ranking").build(part, ["p", "q"])
        for part in (stated, stated[1:])
    )
    result = plausibly.aggregate(table, "exclude", annotators=["a"], inner="plackett-luce")
    left = plausibly.aggregate(second, "plackett-luce")
    xr.testing.assert_equal(result.drop_attrs(), left.drop_attrs())
    result = plausibly.aggregate(table, "exclude", fewer_than=2)
    xr.testing.assert_equal(result, plausibly.aggregate(second))
    with pytest.raises(InputError, match="exclude does not read partial-ranking"):
        plausibly.aggregate(table, "exclude", below=0.5)


def test_examples_that_lose_all_annotators() -> None:
    table = table_of([*RECORDS, ("t9", "dan", "x", 1)], labels="xyz")
    both = ["dan", "eve"]
    with refused("annotators-needed", 'hint lost = "keep" keeps all responses to these'):
        plausibly.aggregate(table, "exclude", annotators=both)
    with warned("annotators-needed", "answered 1 example expected", "found t9"):
        result = plausibly.aggregate(table, "exclude", annotators=both, lost="keep")
    assert float(result.sel(example="t9", label="x")) == 1.0
    assert read_left_out(result.attrs) == {"responses by excluded annotators": 10}
    # Weights are estimated from what is left all the same.
    with quiet():
        another = plausibly.aggregate(table, "exclude", annotators=["dan"], below=0.3, lost="keep")
    assert list(excluded(another)) == both


def test_whom_an_exclusion_cannot_find_or_judge() -> None:
    with refused("annotators-unknown", "found dana"):
        plausibly.aggregate(TABLE, "exclude", annotators=["dana", "eve"])
    with refused("reliability-none", 'by = "worker-agreement"'):
        plausibly.aggregate(TABLE, "exclude", below=0.5, by="label-frequency")


test_each_call_gives_its_text = each_call(__file__, globals())
