"""Wrong input: the exit code is 2, the message says whose fault it is, and nothing is written."""

from __future__ import annotations

import pytest

from cli_world import CALIBRATE, EVALUATE, PREDICT, World, done, refused, typed

GIVEN = "calibrate --plausibilities lam.csv -p probabilities.csv -o p.nc"
FROM_BOTH = "calibrate -a votes.csv -p probabilities.csv -o"

OPTIONS = [
    (
        "calibrate -p probabilities.csv -o p.nc",
        "answers-missing",
        "found neither hint -a votes.csv",
    ),
    (f"{EVALUATE} --plausibilities lam.csv", "answers-missing", "found both hint leave one out"),
    (f"{GIVEN} --columns label=x", "option-unfit", "found --columns hint leave --columns out"),
    (
        f"{GIVEN} --aggregator label-set",
        "option-unfit",
        "found --aggregator hint leave --aggregator",
    ),
    (
        f"{CALIBRATE} --columns example=item,worker:rater",
        "option-malformed",
        'found no NAME=NAME in "worker:rater" hint --columns '
        "example=item,annotator=rater,label=answer",
    ),
    (
        f"{CALIBRATE} --set labels.rename=dog",
        "option-malformed",
        'found no NAME=NAME in "dog" hint --set labels.rename=old=new',
    ),
    (
        f"{CALIBRATE} --set labels.rename=Dog=hound",
        "label-unknown",
        """found "Dog" hint --set 'labels.rename={dog="hound"}'""",
    ),
    ("convert -a votes.csv -o votes.csv", "output-is-input", "-o votes.csv would overwrite"),
    (f"{FROM_BOTH} ./votes.csv", "output-is-input", "-o votes.csv would overwrite what -a reads"),
    (f"{FROM_BOTH} votes.csv/p.nc", "output-unwritable", "votes.csv/p.nc expected a writable"),
    ("aggregate -a votes.csv -o lam.xlsx", "ending-unknown", "found .xlsx hint -o lam.csv"),
    (f"{EVALUATE} --fail-under 89", "option-range", "found 89 hint --fail-under 0.89"),
    (f"{EVALUATE} --fail-under most", "option-range", "found most hint --fail-under 0.89"),
    (
        f"{CALIBRATE} --set method.calibrator.draws=5",
        "config-key",
        "--set method.calibrator.draws: expected has no such parameter; monte-carlo has it",
    ),
    (
        f"{CALIBRATE} --combiner '{{name = \"ecdf\", delta = }}'",
        "option-malformed",
        'expected an inline TOML table found invalid value hint --combiner \'{name = "NAME",',
    ),
    (f"{CALIBRATE} --combiner '{{name = \"ecdf\"}} 3'", "option-malformed", "--combiner"),
    (f"{CALIBRATE} --combiner '{{name = \"ecdf\"}}\nscore = 3'", "option-malformed", "--combiner"),
    ("calibrat", "usage", "Did you mean 'calibrate'? hint plausibly --help"),
    (
        "calibrate -a votes.csv -o predictor.nc",
        "usage",
        "plausibly calibrate: missing option '--predictions' / '-p' hint plausibly calibrate "
        "--help",
    ),
    ("evaluate", "answers-missing", "found neither hint -a votes.csv"),
    (
        f"{PREDICT} --set predictions.scale=logits",
        "config-key",
        'expected "probability" or "logit" or "independent" or "any"',
    ),
    ("plugins lst", "usage", "Did you mean 'list'? hint plausibly plugins --help"),
    ("calibrate -a votes.csv -p no.csv -o p.nc", "file-missing", 'predictions "no.csv"'),
    ("calibrate -a no.csv -p probabilities.csv -o p.nc", "file-missing", 'annotations "no.csv"'),
]


@pytest.mark.parametrize(("line", "name", "piece"), OPTIONS)
def test_options(world: World, line: str, name: str, piece: str) -> None:
    refused(line, name, piece)


def test_a_foreign_file_where_the_guarantee_goes(world: World) -> None:
    done(CALIBRATE)
    world.write("export.json", '[{"id": 1}]')
    refused(f"{PREDICT} -o export.csv", "output-occupied", "export.json", "-o export-sets.csv")
    assert world.path("export.json").read_text() == '[{"id": 1}]'
    done(PREDICT)
    done(PREDICT)  # our own guarantee may be replaced


def test_an_unwritable_output_leaves_the_old_file(sets: World) -> None:
    sets.path("sets.json").unlink()
    sets.path("sets.json").mkdir()
    (sets.path("sets.json") / "kept").touch()
    old = sets.path("sets.csv").read_bytes()
    assert typed(f"{PREDICT} --alpha 0.3").code == 2
    assert sets.path("sets.csv").read_bytes() == old
    assert [path.name for path in sets.path("sets.json").iterdir()] == ["kept"]


FILES = [  # file, what stands there, what comes in its place, and the message
    ("votes.csv", "task,worker,label", "item,rater,answer", "format-unknown", "votes.csv"),
    (
        "votes.csv",
        "c00,w1,cat",
        "c00,w0,cat",
        "response-twice",
        "votes.csv: w0 answered 1 example again",
    ),
    (
        "votes.csv",
        "c00,w0,cat\nc00,w1,cat\nc00,w2,cat\n",
        "c00,w0,\n",
        "example-unanswered",
        "annotations: 1 of 30 examples has no response (c00)",
    ),
    ("votes.csv", "c00,w0,cat", "c00,w0,wolf", "labels-differ", "votes.csv has a label that prob"),
    ("probabilities.csv", "c07,0.20,0.20,0.60\n", "", "examples-differ", "lacks 1 example of vot"),
    ("probabilities.csv", "c07,", "c06,", "example-twice", "names c06 in rows 7 and 8"),
    ("probabilities.csv", "c07,0.20", "c07,nan", "numbers-not-finite", "probabilities.csv"),
    ("probabilities.csv", "c07,0.20", "c07,-4.0", "probabilities-negative", "probabilities.csv"),
    ("probabilities.csv", "c07,0.20", "c07,0.10", "rows-do-not-sum", "probabilities.csv"),
]


@pytest.mark.parametrize(("file", "old", "new", "name", "source"), FILES)
def test_files(world: World, file: str, old: str, new: str, name: str, source: str) -> None:
    world.edit(file, old, new)
    refused(CALIBRATE, name, source)


def test_an_empty_file(world: World) -> None:
    world.write("votes.csv", "")
    refused(CALIBRATE, "file-empty", "votes.csv")


def test_nobody_said_a_label_and_the_way_out(world: World) -> None:
    world.replace("votes.csv", "fox", "dog")
    refused(
        CALIBRATE, "labels-differ", 'votes.csv lacks the label "fox"', "found 2", "--labels FILE"
    )
    world.write("labels.txt", "cat\ndog\nfox\n")
    assert typed(f"{CALIBRATE} --labels labels.txt").code == 0


@pytest.mark.parametrize("alpha", ["90", "0", "1", "a", "-0.1", "nan"])
def test_alphas_are_looked_at_before_files(world: World, alpha: str) -> None:
    for line in ("calibrate -a no.csv -p no.csv -o p.nc", "predict no.nc -p no.csv -o sets.csv"):
        refused(
            f"{line} --alpha={alpha}",
            "alpha-range",
            "alpha must be between 0 and 1",
            f"found {alpha}",
        )


def test_predictors(world: World) -> None:
    done(CALIBRATE)
    refused("predict votes.csv -p new.csv -o sets.csv", "predictor-unreadable", "votes.csv")
    world.edit("new.csv", "fox", "wolf")
    refused(PREDICT, "predictor-labels", 'predictions lack the label "fox"')


@pytest.mark.parametrize(
    "command",
    [
        "calibrate -o p.nc",
        "plan",
        "sensitivity --aggregator label-frequency --aggregator majority-vote",
        "evaluate sets.csv",
    ],
)
def test_swapped_files_are_told(sets: World, command: str) -> None:
    swapped = f"{command} -a probabilities.csv -p votes.csv"
    refused(swapped, "files-swapped", "-a votes.csv -p probabilities.csv")


@pytest.mark.parametrize("command", ["calibrate -o p.nc", "plan"])
def test_predictions_are_no_plausibilities(world: World, command: str) -> None:
    again = "--plausibilities ./probabilities.csv -p probabilities.csv"
    refused(f"{command} {again}", "predictions-as-plausibilities", "probabilities.csv as both")


def test_wrong_usage_is_a_document_too(world: World) -> None:
    ran = typed("calibrate --alhpa 0.1 --json")
    assert ran.code == 2
    assert ran.document["command"] == "calibrate"
    assert ran.document["error"]["name"] == "usage"
    assert "--alpha" in ran.document["error"]["what"]
