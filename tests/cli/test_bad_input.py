"""Wrong input: the exit code is 2, the message names what is wrong, and nothing is written."""

from __future__ import annotations

import pytest

from cli_world import CALIBRATE, EVALUATE, PREDICT, World, done, refused, typed

FROM_FILE = "calibrate --plausibilities lam.csv -p probabilities.csv -o p.nc"
FROM_BOTH = "calibrate -a votes.csv -p probabilities.csv -o"

OPTIONS = [
    ("calibrate -p probabilities.csv", "answers-missing", "found neither hint -a votes.csv"),
    (f"{EVALUATE} --plausibilities lam.csv", "answers-missing", "found both hint leave one out"),
    ("evaluate", "answers-missing", "found neither hint -a votes.csv"),
    (f"{FROM_FILE} --columns label=x", "option-unfit", "found --columns hint leave --columns out"),
    (f"{FROM_FILE} --aggregator label-set", "option-unfit", "hint leave --aggregator"),
    (
        f"{CALIBRATE} --columns example=item,worker:rater",
        "option-malformed",
        'found no NAME=NAME in "worker:rater" hint --columns '
        "example=item,annotator=rater,label=answer",
    ),
    (f"{CALIBRATE} --set labels.rename=dog", "option-malformed", "hint --set labels.rename=old"),
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
    (f"{CALIBRATE} --set method.calibrator.draws=5", "config-key", "monte-carlo has it"),
    (
        f"{CALIBRATE} --combiner '{{name = \"ecdf\", delta = }}'",
        "option-malformed",
        'expected an inline TOML table found invalid value hint --combiner \'{name = "NAME",',
    ),
    (f"{CALIBRATE} --combiner '{{name = \"ecdf\"}} 3'", "option-malformed", "--combiner"),
    (f"{CALIBRATE} --combiner '{{name = \"ecdf\"}}\nscore = 3'", "option-malformed", "--combiner"),
    ("calibrate -a votes.csv", "usage", "missing option '--predictions' / '-p' hint plausibly"),
    (f"{PREDICT} --set predictions.scale=logits", "config-key", '"logit" or "independent"'),
    (
        "sensitivity -a votes.csv -p probabilities.csv --aggregator label-frequency",
        "aggregators-few",
        "hint --aggregator label-frequency --aggregator dawid-skene",
    ),
    ("plugins lst", "usage", "Did you mean 'list'? hint plausibly plugins --help"),
    ("calibrate -a votes.csv -p no.csv -o p.nc", "file-missing", 'predictions "no.csv"'),
    ("calibrate -a no.csv -p probabilities.csv -o p.nc", "file-missing", 'annotations "no.csv"'),
    ("predict votes.csv -p new.csv -o sets.csv", "predictor-unreadable", "votes.csv"),
    *(
        (f"{command} -a probabilities.csv -p votes.csv", "files-swapped", "-a votes.csv -p prob")
        for command in (
            "calibrate -o p.nc",
            "plan",
            "sensitivity --aggregator label-frequency --aggregator majority-vote",
        )
    ),
    *(
        (
            f"{command} --plausibilities ./probabilities.csv -p probabilities.csv",
            "predictions-as-plausibilities",
            "probabilities.csv as both",
        )
        for command in ("calibrate -o p.nc", "plan")
    ),
    *(  # before any file is read
        (f"{command} --alpha={alpha}", "alpha-range", f"found {alpha}")
        for command in ("calibrate -a no.csv -p no.csv", "predict no.nc -p no.csv")
        for alpha in ("90", "a", "nan")
    ),
]


@pytest.mark.parametrize(("line", "name", "piece"), OPTIONS)
def test_options(world: World, line: str, name: str, piece: str) -> None:
    refused(line, name, piece)


FILES = [  # file, what stands there, what comes in its place, and the message
    ("votes.csv", "task,worker,label", "item,rater,answer", "format-unknown", "votes.csv"),
    ("votes.csv", "c00,w1,cat", "c00,w0,cat", "response-twice", "w0 answered 1 example again"),
    (
        "votes.csv",
        "c00,w0,cat\nc00,w1,cat\nc00,w2,cat\n",
        "c00,w0,\n",
        "example-unanswered",
        "annotations: 1 of 30 examples has no response (c00)",
    ),
    ("votes.csv", "c00,w0,cat", "c00,w0,wolf", "labels-differ", "hint --missing wolf, if it means"),
    ("votes.csv", "c00,w0,cat", "c00,w0,catt", "labels-differ", 'labels.rename={catt="cat"}'),
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


def test_an_empty_file_and_a_label_without_answers(world: World) -> None:
    world.replace("votes.csv", "fox", "dog")
    refused(CALIBRATE, "labels-differ", 'votes.csv lacks the label "fox"', "--labels FILE")
    world.write("labels.txt", "cat\ndog\nfox\n")
    assert typed(f"{CALIBRATE} --labels labels.txt").code == 0
    world.write("votes.csv", "")
    refused(CALIBRATE, "file-empty", "votes.csv")


def test_outputs_that_are_files_of_others(sets: World) -> None:
    refused(
        "evaluate sets.csv -a new.csv -p new_votes.csv", "files-swapped", "-a new_votes.csv -p new"
    )
    refused("report sets.csv -a new_votes.csv", "report-source", "sets.csv", "--predictor")
    sets.write("export.json", '[{"id": 1}]')
    refused(f"{PREDICT} -o export.csv", "output-occupied", "export.json", "-o export-sets.csv")
    assert sets.path("export.json").read_text() == '[{"id": 1}]'
    done(PREDICT)  # our own guarantee may be replaced
    sets.path("sets.json").unlink()
    sets.path("sets.json").mkdir()
    old = sets.path("sets.csv").read_bytes()
    assert typed(f"{PREDICT} --alpha 0.3").code == 2
    assert sets.path("sets.csv").read_bytes() == old
    sets.edit("new.csv", "fox", "wolf")
    refused("predict predictor.nc -p new.csv -o s.csv", "predictor-labels", 'the label "fox"')


def test_wrong_usage_is_a_document_too(world: World) -> None:
    ran = typed("calibrate --alhpa 0.1 --json")
    assert (ran.code, ran.document["command"]) == (2, "calibrate")
    assert ran.document["error"]["name"] == "usage"
    assert "did you mean --alpha?" in ran.document["error"]["hint"]
