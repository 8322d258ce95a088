"""Calibrators by group, weight, view or risk: what commands say of them, ask for and promise."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import plausibly
from cli_calibrators import VIEWS, make
from cli_world import Ran, World, run

CALIBRATE = (
    *("calibrate", "-a", "votes.csv", "-e", "patients.csv"),
    *("--labels", "risks.csv", "-o", "p.nc"),
)
PREDICT = ("predict", "p.nc", "-o", "s.csv")
CONDITION = "if calibration and new examples are exchangeable and the model saw none of them."


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.chdir(tmp_path)
    return make(tmp_path)


def calibrated(calibrator: str, *words: str, views: bool = False) -> Ran:
    """Calibrate by a calibrator."""
    model = ("-p", "views.csv", "--view", "view") if views else ("-p", "probabilities.csv")
    ran = run(*CALIBRATE, *model, "--calibrator", calibrator, *words)
    assert ran.code == 0, ran.err
    if "--json" not in words:
        assert max(map(len, (ran.out + ran.err).splitlines())) <= 80
    return ran


def field(ran: Ran, title: str) -> str:
    """Return the text of the first row of that title, in one line."""
    found = re.search(rf"^{title}  +(.*(?:\n  .*)*)", ran.out, re.M)
    return " ".join(found[1].split()) if found else ""


def predicted(*words: str, views: bool = False) -> Ran:
    """Predict by what was calibrated last."""
    model = ("-p", "new_views.csv", "--view", "view") if views else ("-p", "new.csv")
    ran = run(*PREDICT, *model, *words)
    if "--json" not in words:
        assert max(map(len, (ran.out + ran.err).splitlines())) <= 80
    return ran


# ---- by group and by label


def test_by_a_group_that_new_examples_must_have(world: World) -> None:
    ran = calibrated('{name = "mondrian", by = "site"}')
    assert ran.err == ""
    assert field(ran, "guarantee") == (
        'alpha 0.1: for each value of "site", on average .90 of what experts say is covered, if '
        'calibration and new examples are exchangeable within each value of "site" and the model '
        "saw none of them. Needs 9 calibration examples in each, has 10 to 20."
    )
    assert field(ran, "chosen").startswith("calibrator mondrian (by site, inner expected);")
    assert field(ran, "asks for") == '"site" of every new example (-e)'
    assert ran.out.endswith(
        "next         plausibly predict p.nc -p NEW -e NEW_EXAMPLES --alpha 0.1 \\\n"
        "               -o sets.csv\n"
    )
    said = predicted()
    assert said.code == 2
    assert said.err.startswith(
        'error coordinate-missing: calibrator mondrian needs "site" of the examples, and\n'
        "  the predictions have none\n"
    )
    told = predicted("-e", "new_patients.csv")
    assert (told.code, told.err) == (0, "")
    assert told.out.splitlines()[:2] == [
        "alpha  threshold  size 1     2     3   mean  empty",
        "0.1    .1 to .15    10 %  40 %  50 %   2.40      0",
    ]


def test_thresholds_by_group_as_data(world: World) -> None:
    found = calibrated('{name = "mondrian", by = "site"}', "--json").document
    assert found["asks_of_new"] == ["site"]
    (promise,) = found["guarantees"]
    expected = plausibly.load_predictor("p.nc").threshold(0.1)
    assert promise["threshold_by"] == "site"
    assert promise["threshold"] == {
        site: float(expected.sel(site=site)) for site in ("north", "south")
    }
    document = predicted("-e", "new_patients.csv", "--json").document
    assert document["results"][0]["threshold"] == promise["threshold"]
    plain = calibrated("expected", "--json").document["guarantees"][0]
    assert (plain["threshold_by"], plain["threshold"]) == (None, pytest.approx(0.2))


def test_small_and_unseen_groups_are_warned_of_and_done(world: World) -> None:
    ran = calibrated('{name = "mondrian", by = "site"}', "--alpha", "0.08")
    assert ran.err == (
        'warning group-too-small: 1 of 2 groups of "site" gets every label at alpha 0.08\n'
        "  expected  12 calibration examples or more in a group; got south 10\n"
        '  do        merge them in the column "site", annotate more, or a larger alpha\n'
    )
    world.edit("new_patients.csv", "n03,p1,south", "n03,p1,east")
    told = predicted("-e", "new_patients.csv")
    assert told.code == 0
    assert told.err.startswith("warning group-unseen: ")
    assert 'values of "site" that calibration has; these get every label; got' in told.err
    assert "n03,0.1,3,cat | dog | fox,1,1,1" in world.path("s.csv").read_text()
    strict = predicted("-e", "new_patients.csv", "--strict")
    assert strict.code == 3
    assert "error warnings-strict: plausibly predict warned of group-unseen" in strict.err


def test_by_label_what_counts_is_its_mass(world: World) -> None:
    ran = calibrated('{name = "mondrian", by = "label"}', "--alpha", "0.2")
    # Votes for each label, of three an example: 30 for cat, 33 for dog and 27 for fox.
    assert field(ran, "guarantee") == (
        "alpha 0.2: for each label, where it is the label that an expert gives, on average .80 of "
        f"what experts say is covered, {CONDITION} Needs a plausibility mass of 4 for each, has 9 "
        "to 11."
    )
    assert field(ran, "asks for") == ""
    drawn = calibrated('{name = "mondrian", by = "label", inner = "monte-carlo"}')
    assert field(drawn, "chosen").endswith("combiner average, seed 0 (defaults)")
    assert "-e" not in drawn.out.partition("next")[2]
    assert predicted().code == 0


# ---- weights, patients, risk and mass


def test_weights_have_no_threshold_and_say_what_they_are_worth(world: World) -> None:
    ran = calibrated('{name = "weighted", by = "weight"}')
    # Weights 1, 2, 3 ten times each: worth 60^2 / 140, and every label above 60 / 9.
    worth = 60**2 / 140
    assert field(ran, "guarantee").endswith(
        f'Where "weight" is more than {60 / 9:.4g}, a set is every label.'
    )
    assert f"note         the weights are worth {worth:.4g} equal ones, of 30" in ran.out
    assert field(ran, "asks for") == '"weight" of every new example (-e)'
    told = predicted("-e", "new_patients.csv", "--alpha", "0.1", "--alpha", "0.3")
    assert (told.code, told.err) == (0, "")
    assert re.findall(r"^0\.\d +(none \(by p-value\)) ", told.out, re.M) == [
        "none (by p-value)",
        "none (by p-value)",
    ]
    document = predicted("-e", "new_patients.csv", "--json").document
    assert (document["results"][0]["threshold"], document["results"][0]["threshold_by"]) == (
        None,
        None,
    )
    world.edit("new_patients.csv", "n00,p0,south,cat,1", "n00,p0,south,cat,7")
    heavy = predicted("-e", "new_patients.csv")
    assert heavy.code == 0
    assert heavy.err.startswith(
        "warning weight-too-large: 1 of 20 examples gets every label at alpha 0.1\n"
    )
    assert "n00,0.1,3,cat | dog | fox,1,1,1" in world.path("s.csv").read_text()


def test_without_a_threshold_too_few_examples_are_warned_of(world: World) -> None:
    separate = '{name = "augmentation", scores = "separate"}'
    ran = calibrated(separate, "--alpha", "0.01", views=True)
    assert ran.err.startswith("warning n-too-small: every set is every label at alpha 0.01\n")
    assert "is promised in vain" in field(ran, "guarantee")


def test_patients_are_counted(world: World) -> None:
    ran = calibrated('{name = "grouped", by = "patient"}')
    assert field(ran, "guarantee") == (
        "alpha 0.1: on average .90 of what experts say is covered (the example is a random one of "
        'a new "patient"), if calibration and new values of "patient", each with its examples, are '
        'exchangeable and the model saw none of them. Needs 9 values of "patient", has 15; any '
        "alpha from .063."
    )
    assert field(ran, "asks for") == ""
    assert predicted().code == 0


def test_a_risk_is_no_coverage(world: World) -> None:
    ran = calibrated('{name = "risk", by = "risk"}', "--alpha", "0.5")
    assert field(ran, "guarantee") == (
        'alpha 0.5: on average the "risk" of the labels that a set leaves out, each times its '
        f"plausibility is at most .50, {CONDITION} Nothing is promised of coverage. Needs 7 "
        "calibration examples, has 30; any alpha from .13."
    )
    vain = calibrated('{name = "risk", by = "risk"}')
    assert "so that a risk of .10 is promised in vain. Nothing is" in field(vain, "guarantee")
    assert predicted("--alpha", "0.5").code == 0


def test_a_share_of_what_experts_say(world: World) -> None:
    ran = calibrated('{name = "mass-coverage", leave_out = 0.2}')
    assert field(ran, "guarantee") == (
        "alpha 0.1: with probability .90 a set holds a share of .80 of the plausibilities of a new "
        f"example: of what experts would say of it, {CONDITION} Needs 9 calibration examples, has "
        "30; any alpha from .033."
    )
    assert predicted().code == 0
    out = run("evaluate", "s.csv", "-a", "new_votes.csv").out
    assert "promised .90 of sets with .80 of what experts said, measured" in " ".join(out.split())


def test_switches_are_said_where_they_are_on(world: World) -> None:
    ran = calibrated(
        '{name = "monte-carlo", systematic = true}',
        "--combiner",
        '{name = "average", smoothed = true}',
    )
    assert field(ran, "chosen").startswith(
        "calibrator monte-carlo (draws 10, systematic), combiner average (smoothed);"
    )
    told = predicted()
    assert "none (by p-value)" in told.out


# ---- views


def test_views_with_p_values_of_their_own(world: World) -> None:
    ran = calibrated('{name = "augmentation", scores = "separate"}', views=True)
    assert field(ran, "predictions") == (
        "views.csv: 30 x 3 float64 in 2 views (original, flipped); every example matched by name"
    )
    assert (
        "on average .80 of what experts say is covered, "
        f"{CONDITION} That is 1 - 2 alpha, not 1 - alpha: an average of p-values of any dependence"
    ) in field(ran, "guarantee")
    assert field(ran, "note").startswith("1 - alpha here: combiner maximum or held-out-rank")
    assert field(ran, "asks for") == "every new example in the views original, flipped"
    assert "plausibly predict p.nc -p NEW --view view --alpha 0.1 \\\n" in ran.out
    told = predicted(views=True)
    assert (told.code, told.err) == (0, "")
    assert "none (by p-value)" in told.out
    lines = world.path("s.csv").read_text().splitlines()
    assert len(lines) == 21
    evaluated = run("evaluate", "s.csv", "-a", "new_votes.csv")
    assert evaluated.code == 0
    assert "promised .80, measured" in evaluated.out


def test_views_with_one_mean_score(world: World) -> None:
    calibrated("augmentation", views=True)
    told = predicted("--json", views=True).document
    predictor = plausibly.load_predictor("p.nc")
    new = plausibly.read_predictions("new_views.csv", view="view")
    assert told["results"][0]["threshold"] == float(predictor.threshold(0.1))
    sets = predictor.predict(new, 0.1)
    assert told["results"][0]["mean_size"] == float(sets.sum("label").mean())
    assert told["predictions"]["augmentations"] == list(VIEWS)
    lacking = predicted()
    assert lacking.code == 2
    assert lacking.err.startswith("error augmentations-missing: predictions have no augmentations")
    assert lacking.err.endswith(
        "  do        -p with a row for each view of an example, and --view COLUMN\n"
    )


def test_views_pooled_are_for_one_view_of_a_new_example(world: World) -> None:
    ran = calibrated('{name = "augmentation", scores = "pooled"}', views=True)
    assert field(ran, "guarantee").startswith(
        "alpha 0.1: a label drawn from the plausibilities of a new example, seen in a random one "
        "of its augmentations, is covered with probability .90, if"
    )
    assert field(ran, "asks for") == "every new example in one view"
    assert "--view" not in ran.out
    assert predicted().code == 0
    assert predicted(views=True).err == (
        "error views-unread: new_views.csv has several views of each example, and the\n"
        "  predictor reads one\n"
        "  expected  one row an example; got 2 views (original, flipped)\n"
        "  do        keep the rows of one view, chosen without looking at any result, and\n"
        "            leave --view out\n"
    )


def test_views_that_nobody_reads(world: World) -> None:
    ran = run(*CALIBRATE, "-p", "views.csv", "--view", "view")
    assert ran.code == 2
    assert ran.err == (
        "error augmentations-unread: calibrator expected reads one row an example, and\n"
        "  predictions have augmentations\n"
        "  expected  predictions over example and label; got 2 augmentations\n"
        "  do        --calibrator augmentation, or -p with one row an example\n"
    )
    ran = run(*CALIBRATE, "-p", "probabilities.csv", "--calibrator", "augmentation")
    assert ran.err.endswith(
        "  do        -p with a row for each view of an example, and --view COLUMN\n"
    )


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
    words = "calibrate -a v.csv -p m.csv -e x.csv --labels labels.csv -o p.nc"
    base = words.split()
    for calibrator in ('{name = "mondrian", by = "site"}', '{name = "weighted", by = "w"}'):
        assert run(*base, "--calibrator", calibrator).code == 0
        told = run(*PREDICT, "-p", "m.csv", "-e", "x.csv", "--alpha", "0.1", "--alpha", "0.2")
        assert told.code == 0
        head, *lines = told.out.splitlines()[:3]
        assert max(map(len, [head, *lines])) <= 80
        assert "size 1     2   3-5   6-8" in head
    assert run(*base).code == 0
    told = run(*PREDICT, "-p", "m.csv")
    assert "size 1     2     3     4     5     6     7     8   mean  empty" in told.out
