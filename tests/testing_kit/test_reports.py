"""Reports of the kit: counts, failed rules, expected failures, and the data that are needed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from call_files import each_call
from kit_components import FILE, Bars, Mean, Scaled, Shares, Smoothed, Words, after, changed
from plausibly import testing
from plausibly.errors import IncompatibleComponents, warn
from plausibly.plugin import AGGREGATOR, READER, SCORE, Floats, Guarantee
from plausibly.testing import check, check_aggregator
from plausibly.testing.pytest import rules as pytest_rules
from refusals import refused

from .test_mutants import AGGREGATORS

REASON = "annotators differ in skill"


def failure(call: Callable[[], object]) -> str:
    with pytest.raises(AssertionError) as caught:
        call()
    return str(caught.value)


def test_a_sound_component_is_one_line() -> None:
    for component in (Scaled(), Smoothed()):
        report = testing.check_score_function(component)
        assert str(report) == "12 of 12 rules hold"
        assert report.kind == "score"
        assert not report.failed


def test_failures_are_one_error() -> None:
    turned = after(Scaled, "score", lambda scores, *_: -scores.astype("float64") / 2)
    lines = failure(lambda: testing.check_score_function(turned)).splitlines()
    assert lines[:3] == [
        "score Scaled(scale=2.0): 10 of 12 rules hold, fails: 2",
        "float32-kept  fails  from float32 it gives float64",
        "    wanted: From float32 it gives float32, and from float64 float64.",
    ]
    assert lines[3].startswith("larger-fits-better  fails  the likeliest label scores -0.415, the")


def test_expected_failures_are_counted() -> None:
    expected = {"annotator-order": REASON}
    component = AGGREGATORS["annotator-order"]
    report = check(AGGREGATOR, component, expected_failures=expected)
    assert str(report) == "18 of 19 rules hold, expected failure: 1"
    (result,) = [r for r in report.rules if r.state == "expected failure"]
    assert result.name == "annotator-order"
    assert result.detail.startswith(f"{REASON} (single-label: annotators turned round,")
    expected = {"example-order": "the first example is a reference"}
    component = AGGREGATORS["example-order"]
    text = failure(lambda: check(AGGREGATOR, component, expected_failures=expected)).splitlines()
    assert text[0].endswith("17 of 19 rules hold, expected failure: 1, fails: 1")
    (order,) = [line for line in text if line.startswith("example-order  expected failure  ")]
    (alone,) = [line for line in text if line.startswith("example-alone  fails  ")]
    assert text.index(order) < text.index(alone), "in the order of the rules"


def test_an_expected_failure_that_holds_or_names_no_rule() -> None:
    expected = {"annotator-order": REASON}
    text = failure(lambda: check_aggregator(Shares(), expected_failures=expected))
    assert text.startswith("aggregator Shares(power=1.0): 18 of 19 rules hold, unexpected pass: 1")
    assert f'it should fail because "{REASON}": take it out of' in " ".join(text.split())
    for call in (
        lambda: check_aggregator(Shares(), expected_failures={"zzz": REASON}),
        lambda: pytest_rules(AGGREGATOR, expected_failures={"zzz": REASON}),
    ):
        with refused("option-unknown", 'has no rule "zzz"', "fix or drop it in expected_failures"):
            call()


def test_rules_that_cannot_be_run_are_counted() -> None:
    assert str(check(READER, Bars())) == (
        "5 of 13 rules hold, not run: 8 (there is no file to try it on: path=..., a small file of "
        "its syntax)"
    )

    def refuse(*_: object) -> Guarantee:
        raise IncompatibleComponents("pair-incompatible", "only for augmented images")

    assert str(testing.check_p_value_combiner(after(Mean, "guarantee", refuse))) == (
        "10 of 14 rules hold, not run: 4 (it does not go with drawn labels: only for augmented "
        "images)"
    )


def test_a_broken_repr_fails_and_a_warning_does_not() -> None:
    def mute(self: Scaled) -> str:
        raise RuntimeError("no repr")

    def warning(scores: Floats, *_: object) -> Floats:
        warn("old", "something to know")
        return scores

    text = failure(lambda: check(SCORE, changed(Scaled, __repr__=mute)))
    assert text.startswith("score Scaled: 11 of 12 rules hold, fails: 1\n")
    assert "RuntimeError: no repr" in text
    assert not check(SCORE, after(Scaled, "score", warning)).failed


def test_half_a_component_lacks_members() -> None:
    class Half:
        def aggregate(self, annotations: object) -> None:
            raise NotImplementedError

    text = failure(lambda: check_aggregator(Half()))  # type: ignore[arg-type]  # the fault itself
    assert text.startswith("aggregator Half: 0 of 19 rules hold, fails: 5, not run: 14 (")
    lines = " ".join(text.split())
    assert "accepts: expected accepts: frozenset[str], found no accepts" in lines
    assert "expected aggregate(annotations, keys), found aggregate(annotations)" in lines
    assert "any attribute can be set: make the class frozen, as by attrs" in lines


PAIRS = changed(Words, name="pairs")
PAIR_WINS = changed(Shares, accepts=frozenset({"pairs"}))
RECORDS = 'records=[("case 1", "r1", answer), ...] and labels=[...], or a method example() of both'


def test_an_author_of_a_kind_passes_records_or_an_example(tmp_path: Path) -> None:
    class Example(Words):
        name = "words"

        @classmethod
        def example(cls) -> tuple[list[tuple[str, str, str]], list[str]]:
            return [("1", "r", "a"), ("2", "r", "b"), ("2", "q", "a")], ["b", "a", "unused"]

    records, labels = Example.example()
    assert not testing.check_annotation(Example()).failed
    assert not testing.check_annotation(Example(), records=records, labels=labels).failed
    assert not testing.check_annotation(Example(), records=records).failed
    report = check_aggregator(
        changed(Shares, accepts=frozenset({"words"})), annotations=Example().build(records, labels)
    )
    assert [(r.name, r.detail) for r in report.rules if r.state == "not run"] == [
        ("one-label", "a table of one label cannot be made up for this kind")
    ]
    report = check(AGGREGATOR, PAIR_WINS)
    assert {r.state for r in report.rules if r.name in ("simplex", "label-order")} == {"not run"}
    path = tmp_path / "f.kit"
    path.write_text(FILE, encoding="utf-8")
    assert not testing.check_reader(Bars(), path=str(path), kind="single-label").failed
    with pytest.raises(AssertionError, match="the table is of kind single-label, not words"):
        testing.check_reader(Bars(), path=path, kind="words")


test_each_call_gives_its_text = each_call(__file__, globals())
