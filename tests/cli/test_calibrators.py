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
CONDITION = "if calibration and new examples are exchangeable and the model saw none of them."
NEEDS = "Needs 9 calibration examples, has 30; any alpha from 0.033."


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
    "expected": f"""alpha 0.25: on average 0.75 of what experts say is covered, {CONDITION}
        Needs 3 calibration examples, has 30; any alpha from 0.033.""",
    "majority-vote": f"""alpha 0.1: the majority vote is covered with probability 0.90, {CONDITION}
        Nothing is guaranteed about what experts say. {NEEDS}""",
    MONDRIAN: """alpha 0.1: for each value of "site", on average 0.90 of what experts say is
        covered, if calibration and new examples are exchangeable within each value of "site" and
        the model saw none of them. Needs 9 calibration examples in each, has 10 to 20.""",
    BY_LABEL: f"""alpha 0.2: for each label, where it is the label that an expert gives, on average
        0.80 of what experts say is covered, {CONDITION} Needs a plausibility mass of 4 for each,
        has 9 to 11.""",
    CLUSTERED: """alpha 0.1: on average 0.90 of what experts say is covered
        (the example is a random one of a new "patient"), if calibration and new values of
        "patient", each with its examples, are exchangeable and the model saw none of them. Needs 9
        values of "patient", has 15; any alpha from 0.063.""",
    RISK: f"""alpha 0.5: on average the "risk" of the labels that a set leaves out, each times its
        plausibility is at most 0.50, {CONDITION} Nothing is guaranteed about coverage. Needs 7
        calibration examples, has 30; any alpha from 0.13.""",
    MASS: f"""alpha 0.1: with probability 0.90 a set holds a share of 0.80 of the plausibilities of
        a new example: of what experts would say of it, {CONDITION} {NEEDS}""",
}


@pytest.mark.parametrize("calibrator", GUARANTEES)
def test_guarantees(world: World, calibrator: str) -> None:
    guarantee = " ".join(GUARANTEES[calibrator].split())
    ran = calibrated(calibrator, f"--alpha {guarantee.split()[1].rstrip(':')}")
    assert field(ran, "guarantee") == guarantee
    asks = '"site" of every new example (-e)' if calibrator == MONDRIAN else ""
    assert field(ran, "asks for") == asks
    assert predicted(KNOWN if asks else NEW).code == 0


def test_a_guarantee_for_this_calibration(world: World) -> None:
    pac = """--alpha 0.4 --combiner '{name = "pac", delta = 0.1}'"""
    said = field(calibrated("monte-carlo", pac), "guarantee")
    assert said.startswith(
        "alpha 0.4: with probability 0.90 over calibrations, "
        "0.60 of what experts say is covered, if"
    )
    assert "held-out examples, has 15" in said


def test_a_guarantee_in_vain(world: World) -> None:
    assert "so that a risk of 0.10 says nothing. Nothing is" in calibrated(RISK).text
    ran = calibrated(SEPARATE, "--alpha 0.01", SEEN)
    assert ran.err.startswith("warning n-too-small: ")
    assert "vacuous: every set" in field(ran, "guarantee")


# ---- by group and by label


def test_by_a_group_that_new_examples_must_have(world: World) -> None:
    ran = calibrated(MONDRIAN)
    assert ran.err == ""
    assert field(ran, "chosen").startswith("calibrator mondrian (by site, inner expected);")
    assert ran.out.endswith(
        "next         plausibly predict p.nc -p NEW -e NEW_EXAMPLES --alpha 0.1 \\\n"
        "               -o sets.csv\n"
    )
    refused(f"{PREDICT} {NEW}", "coordinate-missing", 'calibrator mondrian needs "site"')
    told = predicted(KNOWN)
    assert (told.code, told.err) == (0, "")
    assert told.out.splitlines()[:2] == [
        "alpha    threshold  size 1     2     3   mean  empty",
        "0.1    0.1 to 0.15     10%   40%   50%   2.40      0",
    ]


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
    assert field(drawn, "chosen").endswith("combiner average, seed 0 (defaults)")
    assert "-e" not in drawn.out.partition("next")[2]


# ---- weights, mass and switches


def test_weights_have_no_threshold_and_say_what_they_are_worth(world: World) -> None:
    ran = calibrated(WEIGHTED)
    # Weights 1, 2, 3 ten times each: worth 60^2 / 140, and every label above 60 / 9.
    worth = 60**2 / 140
    assert field(ran, "guarantee").endswith(
        f'Where "weight" is more than {60 / 9:.4g}, a set is every label.'
    )
    assert f"note         the weights are worth {worth:.4g} equal ones, of 30" in ran.out
    assert field(ran, "asks for") == '"weight" of every new example (-e)'
    told = predicted(f"{KNOWN} --alpha 0.1 --alpha 0.3")
    assert (told.code, told.err) == (0, "")
    assert len(re.findall(r"^0\.\d +none \(by p-value\) ", told.out, re.M)) == 2
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
    assert field(ran, "chosen").startswith(
        "calibrator monte-carlo (draws 10, systematic), combiner average (smoothed);"
    )
    assert "none (by p-value)" in predicted().out


# ---- views


def test_views_with_p_values_of_their_own(world: World) -> None:
    ran = calibrated(SEPARATE, model=SEEN)
    assert field(ran, "predictions") == (
        "views.csv: 30 x 3 float64 in 2 views (original, flipped); every example matched by name"
    )
    assert (
        "on average 0.80 of what experts say is covered, "
        f"{CONDITION} That is 1 - 2 alpha, not 1 - alpha: an average of p-values of any dependence"
    ) in field(ran, "guarantee")
    assert field(ran, "note").startswith("1 - alpha here: combiner maximum or held-out-rank")
    assert field(ran, "asks for") == "every new example in the views original, flipped"
    # The predictor remembers the column of the views.
    assert "predict p.nc -p NEW --alpha 0.1" in ran.out
    told = predicted(NEW_SEEN.partition(" --set")[0])
    assert (told.code, told.err) == (0, "")
    assert "none (by p-value)" in told.out
    assert len(world.path("s.csv").read_text().splitlines()) == 21
    evaluated = typed("evaluate s.csv -a new_votes.csv")
    assert evaluated.code == 0
    assert ": 0.80 on average, measured" in evaluated.out


def test_views_with_one_mean_score(world: World) -> None:
    calibrated("augmentation", model=SEEN)
    told = predicted(f"{NEW_SEEN} --json").document
    predictor = plausibly.load_predictor("p.nc")
    sets = predictor.predict(plausibly.read_predictions("new_views.csv", view="view"), 0.1)
    assert told["results"][0]["threshold"] == float(predictor.threshold(0.1))
    assert told["results"][0]["mean_size"] == float(sets.sum("label").mean())
    assert told["predictions"]["augmentations"] == list(VIEWS)
    refused(f"{PREDICT} {NEW}", "augmentations-missing", "--set", "predictions.augmentation=COLUMN")


def test_views_pooled_are_for_one_view_of_a_new_example(world: World) -> None:
    ran = calibrated('{name = "augmentation", scores = "pooled"}', model=SEEN)
    assert field(ran, "guarantee").startswith(
        "alpha 0.1: a label drawn from the plausibilities of a new example, seen in a random one "
        "of its augmentations, is covered with probability 0.90, if"
    )
    assert field(ran, "asks for") == "every new example in one view"
    assert "--view" not in ran.out
    assert predicted().code == 0
    got = "found 2 views (original, flipped)"
    refused(
        f"{PREDICT} {NEW_SEEN}",
        "views-unread",
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
        assert "size 1     2   3-5   6-8" in told.out.splitlines()[0]
    assert typed(base).code == 0
    head = "size 1     2     3     4     5     6     7     8   mean  empty"
    assert head in typed(f"{PREDICT} -p m.csv").out
