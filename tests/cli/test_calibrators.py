"""Calibrators by group, weight, view or risk: what commands say of them, ask for and guarantee."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import plausibly
from cli_calibrators import VIEWS, make
from cli_world import Ran, World, refused, typed

BASE = "calibrate -a votes.csv -e patients.csv --labels risks.csv -o p.nc"
PREDICT = "predict p.nc -o s.csv"
PLAIN, SEEN = "-p probabilities.csv", "-p views.csv --set predictions.augmentation=view"
NEW, NEW_SEEN = "-p new.csv", "-p new_views.csv --set predictions.augmentation=view"
KNOWN = f"{NEW} -e new_patients.csv"

MONDRIAN = '{name = "mondrian", by = "site"}'
WEIGHTED = '{name = "weighted", by = "weight"}'
BY_LABEL = '{name = "mondrian", by = "label"}'
RISK = '{name = "risk", by = "risk"}'
CLUSTERED = '{name = "clustered", by = "patient"}'
MASS = '{name = "mass-coverage", leave_out = 0.2}'
SEPARATE = '{name = "augmentation", scores = "separate"}'
ASSUMES = "if calibration and new examples are exchangeable"
UNSEEN = "and the model was trained on none of them."
CONDITION = f"{ASSUMES} {UNSEEN}"
ANSWER = "a set contains an annotator's answer"
NEEDS = "Smallest usable alpha with 30 examples: 0.033."


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.chdir(tmp_path)
    return make(tmp_path)


def calibrated(calibrator: str, more: str = "", model: str = PLAIN) -> Ran:
    """Calibrate by a calibrator."""
    ran = typed(f"{BASE} {model} {more}", "--calibrator", calibrator)
    assert ran.code == 0, ran.err
    assert ran.width <= 80 or "--json" in more
    return ran


def predicted(more: str = NEW) -> Ran:
    """Predict by what was calibrated last."""
    ran = typed(f"{PREDICT} {more}")
    assert ran.width <= 80 or "--json" in more
    return ran


def field(ran: Ran, title: str) -> str:
    """Return the text of the first row of that title, in one line."""
    found = re.search(rf"^{title}  +(.*(?:\n  .*)*)", ran.out, re.M)
    return " ".join(found[1].split()) if found else ""


# Votes for each label, of three an example: 30 for cat, 33 for dog and 27 for fox.
GUARANTEES = {
    "expected": f"alpha 0.25: on average, {ANSWER} with probability at least 0.75, "
    f"{CONDITION} {NEEDS}",
    "majority-vote": "alpha 0.1: on average, a set contains the majority vote with probability at "
    f"least 0.90, {CONDITION} Nothing is guaranteed about the annotators' answers. {NEEDS}",
    MONDRIAN: f"""alpha 0.1: for each value of "site", on average, {ANSWER} with probability at
        least 0.90, {ASSUMES} within each value of "site" {UNSEEN} Each needs 9 calibration
        examples; there are 10 to 20.""",
    BY_LABEL: f"""alpha 0.2: for each label, where it is the answer of an annotator, on average,
        {ANSWER} with probability at least 0.80, {CONDITION} Each label needs a plausibility mass
        of 4; there is 9 to 11.""",
    CLUSTERED: f"""alpha 0.1: on average, {ANSWER} (the example is a random one of a new "patient")
        with probability at least 0.90, if calibration and new values of "patient", each with its
        examples, are exchangeable {UNSEEN} Smallest usable alpha with 15 values of "patient":
        0.063.""",
    RISK: f"""alpha 0.5: on average, the "risk" of the labels that a set leaves out, weighted by
        their plausibilities for a new example, is at most 0.50, {CONDITION} Nothing is guaranteed
        about coverage. Smallest usable alpha with 30 examples: 0.13.""",
    MASS: f"""alpha 0.1: on average, a set contains a share of 0.80 of the plausibilities of a new
        example, the answers of its annotators, with probability at least 0.90, {CONDITION}
        {NEEDS}""",
}


@pytest.mark.parametrize("calibrator", GUARANTEES)
def test_guarantees(world: World, calibrator: str) -> None:
    guarantee = " ".join(GUARANTEES[calibrator].split())
    ran = calibrated(calibrator, f"--alpha {guarantee.split()[1].rstrip(':')}")
    assert field(ran, "guarantee") == guarantee
    asks = '"site" of every new example (-e)' if calibrator == MONDRIAN else ""
    assert field(ran, "needs") == asks
    assert predicted(KNOWN if asks else NEW).code == 0


def test_a_guarantee_for_this_calibration(world: World) -> None:
    pac = """--alpha 0.4 --combiner '{name = "pac", delta = 0.1}'"""
    said = field(calibrated("monte-carlo", pac), "guarantee")
    assert said.startswith(
        "alpha 0.4: with probability 0.90 over calibration sets, on average over new examples, "
        f"{ANSWER} with probability at least 0.60, if"
    )
    assert "with 30 examples: " in said


def test_a_guarantee_in_vain(world: World) -> None:
    assert "vacuous: every set contains all labels. Nothing is" in calibrated(RISK).text
    ran = calibrated(SEPARATE, "--alpha 0.01", SEEN)
    assert ran.err.startswith("warning guarantee-vacuous: ")
    assert "vacuous: every set" in field(ran, "guarantee")


# ---- by group and by label


def test_by_a_group_that_new_examples_must_have(world: World) -> None:
    ran = calibrated(MONDRIAN)
    assert ran.err == ""
    assert field(ran, "method").startswith("calibrator mondrian (by site, inner expected);")
    assert ran.out.endswith(
        "next         plausibly predict p.nc -p NEW -e NEW_EXAMPLES --alpha 0.1 \\\n"
        "               -o sets.csv\n"
    )
    refused(f"{PREDICT} {NEW}", "coordinate-missing", 'calibrator mondrian needs "site"')
    told = predicted(KNOWN)
    assert (told.code, told.err) == (0, "")
    assert field(told, "sets") == (
        "alpha 0.1: 10% with one label, 40% with two, 50% with three, none empty; 2.40 labels per "
        "set; threshold 0.1 to 0.15"
    )


def test_thresholds_by_group_as_data(world: World) -> None:
    found = calibrated(MONDRIAN, "--json").document
    assert found["asks_of_new"] == ["site"]
    (guarantee,) = found["guarantees"]
    expected = plausibly.load_predictor("p.nc").threshold(0.1)
    assert guarantee["threshold_by"] == "site"
    assert guarantee["threshold"] == {
        site: float(expected.sel(site=site)) for site in ("north", "south")
    }
    document = predicted(f"{KNOWN} --json").document
    assert document["results"][0]["threshold"] == guarantee["threshold"]
    plain = calibrated("expected", "--json").document["guarantees"][0]
    assert (plain["threshold_by"], plain["threshold"]) == (None, pytest.approx(0.2))


def test_small_and_unseen_groups_are_warned_of_and_done(world: World) -> None:
    ran = calibrated(MONDRIAN, "--alpha 0.08")
    assert ran.err.startswith("warning group-too-small: 1 of 2 groups")
    assert "expected  12 calibration examples or more in a group\n  found     south 10\n" in ran.err
    world.edit("new_patients.csv", "n03,p1,south", "n03,p1,east")
    told = predicted(KNOWN)
    assert told.code == 0
    assert told.err.startswith("warning group-unseen: ")
    assert 'values of "site" that calibration has' in told.err
    assert "n03,0.1,3,cat | dog | fox,1,1,1" in world.path("s.csv").read_text()
    strict = predicted(f"{KNOWN} --strict")
    assert strict.code == 3
    assert "error warnings-strict: plausibly predict warned of group-unseen" in strict.err


def test_by_label_and_drawn(world: World) -> None:
    drawn = calibrated('{name = "mondrian", by = "label", inner = "monte-carlo"}')
    assert field(drawn, "method").endswith("label-frequency, seed 0 (defaults)")
    assert "-e" not in drawn.out.partition("next")[2]


# ---- weights, mass and switches


def test_weights_have_no_threshold_and_say_what_they_are_worth(world: World) -> None:
    ran = calibrated(WEIGHTED)
    # Weights 1, 2, 3 ten times each: worth 60^2 / 140, and every label above 60 / 9.
    worth = 60**2 / 140
    assert field(ran, "guarantee").endswith(
        f'Where "weight" is more than {60 / 9:.4g}, a set contains all labels.'
    )
    assert f"note         the weights are worth {worth:.4g} equal ones, of 30" in ran.out
    assert field(ran, "needs") == '"weight" of every new example (-e)'
    told = predicted(f"{KNOWN} --alpha 0.1 --alpha 0.3")
    assert (told.code, told.err) == (0, "")
    assert told.text.count("; no threshold (by p-value)") == 2
    (result,) = predicted(f"{KNOWN} --json").document["results"]
    assert (result["threshold"], result["threshold_by"]) == (None, None)
    world.edit("new_patients.csv", "n00,p0,south,cat,1", "n00,p0,south,cat,7")
    heavy = predicted(KNOWN)
    assert heavy.code == 0
    assert heavy.err.startswith("warning weight-too-large: 1 of 20 examples")
    assert "n00,0.1,3,cat | dog | fox,1,1,1" in world.path("s.csv").read_text()


def test_a_share_of_what_experts_say(world: World) -> None:
    calibrated(MASS)
    assert predicted().code == 0
    text = typed("evaluate s.csv -a new_votes.csv").text
    assert "0.90 of sets with 0.80 of the answers on average" in text


def test_switches_are_said_where_they_are_on(world: World) -> None:
    smoothed = """--combiner '{name = "average", smoothed = true}'"""
    ran = calibrated('{name = "monte-carlo", systematic = true}', smoothed)
    assert field(ran, "method").startswith(
        "calibrator monte-carlo (draws 10, systematic), combiner average (smoothed);"
    )
    assert "no threshold (by p-value)" in predicted().out


# ---- views


def test_views_with_p_values_of_their_own(world: World) -> None:
    ran = calibrated(SEPARATE, model=SEEN)
    assert field(ran, "predictions") == (
        "views.csv: 30 examples, 2 augmentations (original, flipped), all matched by name"
    )
    assert (
        f"on average, {ANSWER} with probability at least 0.80, "
        f"{CONDITION} That is 1 - 2 alpha, not 1 - alpha: an average of p-values of any dependence"
    ) in field(ran, "guarantee")
    assert field(ran, "note").startswith("1 - alpha here: combiner maximum or held-out-rank")
    assert field(ran, "needs") == "the augmentations original, flipped of every new example"
    # The predictor remembers the column of the views.
    assert "predict p.nc -p NEW --alpha 0.1" in ran.out
    told = predicted(NEW_SEEN.partition(" --set")[0])
    assert (told.code, told.err) == (0, "")
    assert "no threshold (by p-value)" in told.out
    assert len(world.path("s.csv").read_text().splitlines()) == 21
    evaluated = typed("evaluate s.csv -a new_votes.csv")
    assert evaluated.code == 0
    assert ": 0.80 on average, measured" in evaluated.out


def test_views_with_one_mean_score(world: World) -> None:
    calibrated("augmentation", model=SEEN)
    told = predicted(f"{NEW_SEEN} --json").document
    predictor = plausibly.load_predictor("p.nc")
    sets = predictor.predict(plausibly.read_predictions("new_views.csv", augmentation="view"), 0.1)
    assert told["results"][0]["threshold"] == float(predictor.threshold(0.1))
    assert told["results"][0]["mean_size"] == float(sets.sum("label").mean())
    assert told["predictions"]["augmentations"] == list(VIEWS)
    refused(f"{PREDICT} {NEW}", "augmentations-missing", "--set", "predictions.augmentation=COLUMN")


def test_views_pooled_are_for_one_view_of_a_new_example(world: World) -> None:
    ran = calibrated('{name = "augmentation", scores = "pooled"}', model=SEEN)
    assert field(ran, "guarantee").startswith(
        "alpha 0.1: on average, a set contains Y, a label drawn from the plausibilities of a new "
        "example that is seen in a random one of its augmentations, with probability at least"
    )
    assert field(ran, "needs") == "one augmentation of every new example"
    assert "--view" not in ran.out
    assert predicted().code == 0
    got = "found 2 augmentations (original, flipped)"
    refused(
        f"{PREDICT} {NEW_SEEN}",
        "augmentations-several",
        "new_views.csv",
        got,
        "leave predictions.augmentation out",
    )


def test_views_that_nobody_reads(world: World) -> None:
    got = "found 2 augmentations"
    refused(f"{BASE} {SEEN}", "augmentations-unread", got, "--calibrator augmentation")
    lacking = f"{BASE} {PLAIN} --calibrator augmentation"
    refused(lacking, "augmentations-missing", "--set", "predictions.augmentation=COLUMN")


# ---- tables


def test_wide_thresholds_leave_the_table_within_80_columns(world: World) -> None:
    labels = [f"k{number}" for number in range(8)]
    world.write("labels.csv", "label\n" + "\n".join(labels) + "\n")
    rows, votes, about = [f"example,{','.join(labels)}"], ["task,worker,label"], ["example,site,w"]
    for number in range(60):
        numbers = [(1 + (number * place) % 7) for place in range(1, 9)]
        rows.append(",".join([f"e{number}", *(f"{n / sum(numbers):.6f}" for n in numbers)]))
        votes.append(f"e{number},w,k{number % 8}")
        about.append(f"e{number},{'ab'[number % 2]},{1 + number % 5}")
    for name, lines in (("m.csv", rows), ("v.csv", votes), ("x.csv", about)):
        world.write(name, "\n".join(lines) + "\n")
    base = "calibrate -a v.csv -p m.csv -e x.csv --labels labels.csv -o p.nc"
    for calibrator in (MONDRIAN, '{name = "weighted", by = "w"}'):
        assert typed(base, "--calibrator", calibrator).code == 0
        told = predicted("-p m.csv -e x.csv --alpha 0.1 --alpha 0.2")
        assert told.code == 0
        assert "100% with 6 to 8 labels, none empty" in field(told, "sets")
