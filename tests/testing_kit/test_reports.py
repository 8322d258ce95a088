"""What the kit says: counts, tables, expected failures, and what it asks for."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import attrs
import pytest

from kit_aggregators import MUTANTS, Shares
from kit_annotations import Words
from kit_combiners import Mean
from kit_readers import FILE, Bars
from kit_scores import Scaled, Smoothed
from plausibly import testing
from plausibly.errors import IncompatibleComponents
from plausibly.plugin import (
    AGGREGATOR,
    CALIBRATOR,
    READER,
    SCORE,
    CalibrationSummary,
    Claim,
    Floats,
    Guarantee,
)
from plausibly.protocols import KINDS
from plausibly.testing import check, check_aggregator, rules
from refusals import refused

REASON = "annotators differ in skill"


def broken(*names: str) -> object:
    """Return the aggregator that breaks one of these rules."""
    (name,) = names
    return MUTANTS[name].component


@attrs.frozen(kw_only=True)
class Turned(Scaled):
    """Scores that are turned round, and of one width."""

    def score(self, probabilities: Floats, uniform: Floats | None) -> Floats:
        """Return minus the probability."""
        scores: Floats = -probabilities.astype("float64")
        return scores


def told(call: object) -> str:
    assert callable(call)
    with pytest.raises(AssertionError) as caught:
        call()
    return str(caught.value)


def test_a_sound_component_is_one_line() -> None:
    for component in (Scaled(), Smoothed()):
        report = testing.check_score_function(component)
        assert str(report) == "14 of 14 rules hold"
        assert report.kind == "score"
        assert not report.failed


def test_failures_are_one_error_with_a_table() -> None:
    lines = told(lambda: testing.check_score_function(Turned())).splitlines()
    assert lines[:3] == [
        "score Turned(scale=2.0): 12 of 14 rules hold, 2 fail",
        "float32-kept  fails  from float32 it gives float64",
        "    wanted: From float32 it gives float32, and from float64 float64.",
    ]
    assert lines[3].startswith("larger-fits-better  fails  the likeliest label scores -0.463, the")


def test_an_expected_failure_that_fails_is_fine_and_counted() -> None:
    expected = {"annotator-order": REASON}
    report = check(AGGREGATOR, broken("annotator-order"), expected_failures=expected)
    assert str(report) == "24 of 25 rules hold, 1 expected failure"
    (result,) = [r for r in report.rules if r.state == "expected failure"]
    assert result.name == "annotator-order"
    assert result.detail.startswith(f"{REASON} (single-label: annotators turned round,")


@pytest.mark.parametrize(
    ("rule", "counts", "detail"),
    [
        (
            "annotator-order",
            "24 of 25 rules hold, 1 unexpected pass",
            f'unexpected pass it holds, and should fail because "{REASON}": take it out of',
        ),
        (
            "annotators-order",
            "25 of 25 rules hold, 1 unknown rule",
            'has no rule "annotators-order"; did you mean "annotator-order"?',
        ),
        ("zzz", "25 of 25 rules hold, 1 unknown rule", 'has no rule "zzz" wanted:'),
    ],
)
def test_expected_failures_that_do_not_fail(rule: str, counts: str, detail: str) -> None:
    text = told(lambda: check_aggregator(Shares(), expected_failures={rule: REASON}))
    assert text.startswith(f"aggregator Shares(power=1.0): {counts}\n")
    assert detail in " ".join(text.split())


def test_an_expected_failure_beside_a_real_one() -> None:
    expected = {"example-order": "the first example is a reference"}
    text = told(
        lambda: check(AGGREGATOR, broken("example-order"), expected_failures=expected)
    ).splitlines()
    assert text[0].endswith("23 of 25 rules hold, 1 fails, 1 expected failure")
    (order,) = [line for line in text if line.startswith("example-order  expected failure  ")]
    (alone,) = [line for line in text if line.startswith("example-alone  fails  ")]
    assert text.index(order) < text.index(alone), "in the order of the rules"


def test_what_cannot_be_run_is_said_and_counted() -> None:
    report = check(READER, Bars())
    assert str(report) == (
        "5 of 15 rules hold, 10 not run (there is no file to try it on: path=..., a small file of "
        "its syntax)"
    )
    expected = {"reads": "not yet"}
    text = told(lambda: check(READER, Bars(), expected_failures=expected))
    assert "it was not run (there is no file" in " ".join(text.split())


def test_a_component_with_a_broken_repr_is_called_by_its_class() -> None:
    class Mute(Scaled):
        def __repr__(self) -> str:
            raise RuntimeError("no repr")

    text = told(lambda: check(SCORE, Mute()))
    assert text.startswith("score Mute: 13 of 14 rules hold, 1 fails\n")
    assert "RuntimeError: no repr" in text


def test_warnings_for_users_are_not_failures() -> None:
    from plausibly.errors import warn

    class Chatty(Scaled):
        def score(self, probabilities: Floats, uniform: Floats | None) -> Floats:
            warn("chatty", "something to know")
            return super().score(probabilities, uniform)

    assert not check(SCORE, Chatty()).failed


def test_a_combiner_that_refuses_drawn_labels_is_tried_as_far_as_it_goes() -> None:
    class Elsewhere(Mean):
        def guarantee(
            self, claim: Claim, summary: CalibrationSummary, alpha: Fraction
        ) -> Guarantee:
            raise IncompatibleComponents("pair-incompatible", "only for augmented images")

    report = testing.check_p_value_combiner(Elsewhere())
    assert str(report) == (
        "14 of 18 rules hold, 4 not run (it does not go with drawn labels: only for augmented "
        "images)"
    )


def test_data_that_are_needed_are_asked_for() -> None:
    class Pairs(Words):
        name = "pairs"

    class PairWins(Shares):
        accepts = frozenset({"pairs"})

    hint = 'records=[("case 1", "r1", answer), ...] and labels=[...], or a method example() of both'
    with refused("kit-data-missing", f"hint {hint}"):
        testing.check_annotation(Pairs())
    with refused("kit-data-missing", "there are no annotations of kind pairs"):
        check_aggregator(PairWins())
    with refused("kit-data-missing", "there is no file lost.csv"):
        testing.check_reader(Bars(), path="lost.csv")
    with refused("kit-data-missing", "not about two examples"):
        testing.check_annotation(Pairs(), records=[("a", "b", "c")])
    report = check(AGGREGATOR, PairWins())
    assert {r.state for r in report.rules if r.name in ("simplex", "label-order")} == {"not run"}


def test_half_a_component_is_told_what_it_lacks() -> None:
    class Half:
        def aggregate(self, annotations: object) -> None:
            raise NotImplementedError

    text = told(lambda: check_aggregator(Half()))  # type: ignore[arg-type]  # the fault itself
    assert text.startswith("aggregator Half: 0 of 25 rules hold, 5 fail, 20 not run (")
    lines = " ".join(text.split())
    assert "accepts: expected accepts: frozenset[str], found nothing of that name" in lines
    assert "expected aggregate(annotations, keys), found aggregate(annotations)" in lines
    assert "any attribute can be set: make the class frozen, as by attrs" in lines


def test_kinds_and_data_that_do_not_fit_are_refused() -> None:
    with refused("kind-unknown", 'hint plausibly.testing.check("aggregator", component)'):
        check("agregator", Shares())
    with refused("kit-options", "hint leave path, records out"):
        check(CALIBRATOR, Mean(), path="x.csv", records=[])
    with refused("kit-options", "expected annotations="):
        check(AGGREGATOR, Shares(), table=1)


def test_an_author_of_a_kind_passes_records_or_an_example(tmp_path: Path) -> None:
    class Example(Words):
        name = "words"

        @classmethod
        def example(cls) -> tuple[list[tuple[str, str, str]], list[str]]:
            return [("1", "r", "a"), ("2", "r", "b"), ("2", "q", "a")], ["b", "a", "unused"]

    class Wins(Shares):
        accepts = frozenset({"words"})

    records, labels = Example.example()
    assert not testing.check_annotation(Example()).failed
    assert not testing.check_annotation(Example(), records=records, labels=labels).failed
    assert not testing.check_annotation(Example(), records=records).failed
    table = Example().build(records, labels)
    report = check_aggregator(Wins(), annotations=table)
    assert [(r.name, r.detail) for r in report.rules if r.state == "not run"] == [
        ("one-label", "a table of one label cannot be made up for this kind")
    ]
    path = tmp_path / "f.kit"
    path.write_text(FILE, encoding="utf-8")
    assert not testing.check_reader(Bars(), path=str(path), kind="single-label").failed
    with pytest.raises(AssertionError, match="the table is of kind single-label, not words"):
        testing.check_reader(Bars(), path=path, kind="words")


@pytest.mark.parametrize("kind", KINDS, ids=[kind.name for kind in KINDS])
def test_rules_have_names_and_sentences(kind: object) -> None:
    every = rules(kind)  # type: ignore[arg-type]  # one of KINDS
    assert len({rule.name for rule in every}) == len(every) >= 14
    for rule in every:
        assert rule.sentence.endswith("."), rule.name
        assert rule.name == rule.name.lower()
