"""Wrong input: the exit code is 2, the message says whose fault it is, and nothing is written."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from cli_world import World, make, run


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.chdir(tmp_path)
    return make(tmp_path)


CALIBRATE = "calibrate -a votes.csv -p probabilities.csv -o predictor.nc"


def refused(text: str, *words: str) -> None:
    """Check that a command says exactly `text`, exits with 2 and writes nothing."""
    before = {path: path.stat().st_mtime_ns for path in Path().iterdir()}
    ran = run(*words)
    assert ran.err == textwrap.dedent(text).lstrip("\n")
    assert ran.code == 2
    assert ran.out == ""
    assert {path: path.stat().st_mtime_ns for path in Path().iterdir()} == before


# ---- what the command line itself refuses

OPTIONS = {
    "nothing of what the experts said": (
        "calibrate -p probabilities.csv -o predictor.nc",
        """
        error opinions-missing: no file says what the experts said
          expected  annotations (-a) or plausibilities (--plausibilities); got neither
          do        -a votes.csv
        """,
    ),
    "twice what the experts said": (
        "evaluate sets.csv -a new_votes.csv --plausibilities lam.csv",
        """
        error opinions-missing: two files say what the experts said
          expected  annotations (-a) or plausibilities (--plausibilities); got both
          do        leave one out
        """,
    ),
    "an option of annotations with plausibilities": (
        "calibrate --plausibilities lam.csv -p probabilities.csv -o p.nc --columns label=x",
        """
        error option-unfit: --columns has no meaning with --plausibilities
          expected  an option of annotations with -a; got --columns
          do        leave --columns out, or read annotations: -a FILE
        """,
    ),
    "an aggregator with plausibilities": (
        "calibrate --plausibilities lam.csv -p probabilities.csv -o p.nc --aggregator label-set",
        """
        error option-unfit: --aggregator has no meaning with --plausibilities
          expected  an option of annotations with -a; got --aggregator
          do        leave --aggregator out, or read annotations: -a FILE
        """,
    ),
    "a map without equals": (
        f"{CALIBRATE} --columns task=item,worker:rater",
        """
        error option-malformed: --columns task=item,worker:rater cannot be read
          expected  task=item,worker=rater,label=answer; got no NAME=NAME in
                    "worker:rater"
          do        --columns task=item,worker=rater,label=answer
        """,
    ),
    "a new name for nothing": (
        f"{CALIBRATE} --rename dog",
        """
        error option-malformed: --rename dog cannot be read
          expected  OLD=NEW; got "dog"
          do        --rename "old name=new name"
        """,
    ),
    "a label to rename that is nowhere": (
        f"{CALIBRATE} --rename Dog=hound",
        """
        error label-unknown: no file has a label "Dog" to rename
          expected  a label of one of the files; got "Dog"
          do        --rename "dog=hound"
        """,
    ),
    "an output that is an input": (
        "calibrate -a votes.csv -p probabilities.csv -o ./votes.csv",
        """
        error output-is-input: -o votes.csv would overwrite what -a reads
          expected  another file; got votes.csv
          do        -o elsewhere
        """,
    ),
    "an output below a file": (
        "calibrate -a votes.csv -p probabilities.csv -o votes.csv/predictor.nc",
        """
        error output-unwritable: cannot write votes.csv/predictor.nc
          expected  a writable folder; got "not a directory"
          do        -o elsewhere
        """,
    ),
    "an output of unknown format": (
        "aggregate -a votes.csv -o lam.xlsx",
        """
        error ending-unknown: cannot tell the format of lam.xlsx
          expected  .csv or .parquet or .npz or .nc; got .xlsx
          do        -o lam.csv
        """,
    ),
    "a share in percent": (
        "evaluate sets.csv -a new_votes.csv --fail-under 89",
        """
        error share-range: --fail-under 89 is not a share
          expected  a number from 0 to 1; got 89
          do        --fail-under 0.89
        """,
    ),
    "a share in words": (
        "evaluate sets.csv -a new_votes.csv --fail-under most",
        """
        error share-range: --fail-under most is not a share
          expected  a number from 0 to 1; got most
          do        --fail-under 0.89
        """,
    ),
    "draws where nothing is drawn": (
        f"{CALIBRATE} --draws 5",
        """
        error component-parameter: calibrator "expected", draws: no such parameter;
          monte-carlo has it
          do        leave draws out
        """,
    ),
}


@pytest.mark.parametrize("case", OPTIONS)
def test_options(world: World, case: str) -> None:
    words, text = OPTIONS[case]
    refused(text, *words.split())


def test_an_inline_table_that_is_none(world: World) -> None:
    text = """
        error option-malformed: --combiner {name = "ecdf", delta = } cannot be read
          expected  an inline TOML table; got invalid value
          do        --combiner '{name = "NAME", parameter = 0.5}'
        """
    refused(text, *CALIBRATE.split(), "--combiner", '{name = "ecdf", delta = }')


def test_an_inline_table_with_something_behind_it(world: World) -> None:
    for text in ('{name = "ecdf"} 3', '{name = "ecdf"}\nscore = 3'):
        ran = run(*CALIBRATE.split(), "--combiner", text)
        assert ran.code == 2
        assert ran.err.startswith("error option-malformed: --combiner")


def test_a_foreign_file_where_the_guarantee_goes(world: World) -> None:
    run(*CALIBRATE.split())
    world.write("export.json", '[{"id": 1}]')
    text = """
        error output-occupied: export.json is in the way
          expected  nothing there, or an older guarantee; got something else
          do        -o export-sets.csv
        """
    words = "predict predictor.nc -p new.csv -o"
    refused(text, *words.split(), "export.csv")
    assert world.path("export.json").read_text() == '[{"id": 1}]'
    assert run(*words.split(), "sets.csv").code == 0
    assert run(*words.split(), "sets.csv").code == 0, "our own guarantee may be replaced"


def test_an_unwritable_output_leaves_the_old_file(world: World) -> None:
    run(*CALIBRATE.split())
    words = "predict predictor.nc -p new.csv -o sets.csv"
    run(*words.split())
    world.path("sets.json").unlink()
    world.path("sets.json").mkdir()
    (world.path("sets.json") / "kept").touch()
    old = world.path("sets.csv").read_bytes()
    assert run(*words.split(), "--alpha", "0.3").code == 2
    assert world.path("sets.csv").read_bytes() == old
    assert [path.name for path in world.path("sets.json").iterdir()] == ["kept"]


# ---- what is wrong with files: the first line says whose fault it is

Damage = Callable[[World], object]
FILES: dict[str, tuple[Damage, str]] = {
    "no such annotations": (
        lambda world: world.path("votes.csv").rename("votes2.csv"),
        'error file-missing: annotations "votes.csv": there is no such file',
    ),
    "no such predictions": (
        lambda world: world.path("probabilities.csv").unlink(),
        'error file-missing: predictions "probabilities.csv": there is no such file',
    ),
    "empty annotations": (
        lambda world: world.write("votes.csv", ""),
        "error file-empty: votes.csv is empty",
    ),
    "columns of other names": (
        lambda world: world.edit("votes.csv", "task,worker,label", "item,rater,answer"),
        "error format-unknown: no reader recognises votes.csv",
    ),
    "an annotator who answers twice": (
        lambda world: world.edit("votes.csv", "c00,w1,cat", "c00,w0,cat"),
        "error response-twice: votes.csv: w0 answered 1 task again (c00)",
    ),
    "an example without answer": (
        lambda world: world.write(
            "votes.csv",
            world.path("votes.csv").read_text().replace("c00,w0,cat\nc00,w1,cat\nc00,w2,cat\n", "")
            + "c00,w0,\n",
        ),
        "error example-unanswered: annotations: 1 of 30 examples has no response (c00)",
    ),
    "a label that the model lacks": (
        lambda world: world.edit("votes.csv", "c00,w0,cat", "c00,w0,wolf"),
        "error labels-differ: votes.csv has a label that probabilities.csv lacks",
    ),
    "a label that nobody said": (
        lambda world: world.write(
            "votes.csv", world.path("votes.csv").read_text().replace("fox", "dog")
        ),
        'error labels-differ: votes.csv lacks the label "fox"',
    ),
    "an example that the model lacks": (
        lambda world: world.edit("probabilities.csv", "c07,0.20,0.20,0.60\n", ""),
        "error examples-differ: probabilities.csv lacks 1 example of votes.csv",
    ),
    "an example in two rows": (
        lambda world: world.edit("probabilities.csv", "c07,", "c06,"),
        "error example-twice: probabilities.csv names c06 in rows 7 and 8",
    ),
    "a number that is none": (
        lambda world: world.edit("probabilities.csv", "c07,0.20", "c07,nan"),
        "error probabilities-not-finite: probabilities.csv",
    ),
    "logits": (
        lambda world: world.edit("probabilities.csv", "c07,0.20", "c07,-4.0"),
        "error probabilities-negative: probabilities.csv",
    ),
    "a row that does not sum to 1": (
        lambda world: world.edit("probabilities.csv", "c07,0.20", "c07,0.10"),
        "error rows-do-not-sum: probabilities.csv",
    ),
}


@pytest.mark.parametrize("case", FILES)
def test_files(world: World, case: str) -> None:
    damage, first = FILES[case]
    damage(world)
    ran = run(*CALIBRATE.split())
    assert ran.err.startswith(first)
    assert ran.code == 2
    assert ran.out == ""
    assert not world.path("predictor.nc").exists()


def test_nobody_said_a_label_and_the_way_out(world: World) -> None:
    world.write("votes.csv", world.path("votes.csv").read_text().replace("fox", "dog"))
    text = """
        error labels-differ: votes.csv lacks the label "fox"
          expected  the same 3 names; got 2 of them
          do        --labels FILE, every label on a line of its own, if nobody happened
                    to say the others
        """
    refused(text, *CALIBRATE.split())
    world.write("labels.txt", "cat\ndog\nfox\n")
    assert run(*CALIBRATE.split(), "--labels", "labels.txt").code == 0


@pytest.mark.parametrize("alpha", ["90", "0", "1", "a", "-0.1", "nan"])
def test_alphas_are_looked_at_before_files(world: World, alpha: str) -> None:
    for words in (
        "calibrate -a no.csv -p no.csv -o p.nc",
        "predict no.nc -p no.csv -o sets.csv",
    ):
        ran = run(*words.split(), f"--alpha={alpha}")
        assert ran.code == 2
        assert ran.err.startswith(f"error alpha-range: alpha {alpha} is not a miscoverage rate")


def test_predictors(world: World) -> None:
    run(*CALIBRATE.split())
    words = ["-p", "new.csv", "-o", "sets.csv"]
    assert (
        "predictor-unreadable: votes.csv is not a predictor"
        in run("predict", "votes.csv", *words).err
    )
    world.edit("new.csv", "fox", "wolf")
    ran = run("predict", "predictor.nc", *words)
    assert ran.code == 2
    assert ran.err.startswith('error predictor-labels: predictions lack the label "fox"')


@pytest.mark.parametrize(
    "command",
    [
        "calibrate -o p.nc",
        "plan",
        "sensitivity --aggregator label-frequency --aggregator majority-vote",
        "evaluate sets.csv",
    ],
)
def test_swapped_files_are_told(world: World, command: str) -> None:
    if command.startswith("evaluate"):
        for made in (CALIBRATE, "predict predictor.nc -p new.csv --alpha 0.1 -o sets.csv"):
            assert run(*made.split()).code == 0
    ran = run(*f"{command} -a probabilities.csv -p votes.csv".split())
    assert ran.code == 2
    assert ran.err.startswith("error files-swapped: -a and -p seem to be swapped\n")
    assert "-a votes.csv -p probabilities.csv\n" in ran.err
