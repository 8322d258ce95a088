"""Studies that go on after they were stopped: nothing is computed again, nothing else is taken."""

from __future__ import annotations

import json
import signal
import sys
import warnings
from pathlib import Path

import pytest
import xarray as xr

from components import Failing, Grumbling, Slow, Tired
from plausibly import compare, registry
from plausibly.errors import InputError, PlausiblyWarning
from plausibly.evaluation.checkpoint import MANIFEST, Checkpoint
from plausibly.evaluation.design import MethodTable
from plausibly.evaluation.recorded import Recorded
from plausibly.plugin import CALIBRATOR, SCORE
from plausibly.registry import Registry

from .studies import computed, heard, script, sites

__all__ = ["computed"]

METHODS: dict[str, MethodTable] = {
    "majority-vote": {"calibrator": "majority-vote", "score": "grumbling"},
    "drawn": {"calibrator": "monte-carlo", "combiner": "maximum"},
    "nothing": {
        "calibrator": "monte-carlo",
        "combiner": "fisher",
        "allow_no_guarantee": True,
    },
    "ecdf": {"calibrator": "monte-carlo", "combiner": "ecdf"},
}
OPTIONS: dict[str, object] = {
    "alphas": ["0.1", 0.25],
    "sizes": [12, 20],
    "draws": [1, 3],
    "cluster": "patient",
    "stratify": "site",
    "seed": 4,
}


@pytest.fixture(autouse=True)
def own(monkeypatch: pytest.MonkeyPatch) -> Registry:
    found = Registry()
    found.register(SCORE, "grumbling", Grumbling)
    found.register(CALIBRATOR, "slow", Slow)
    monkeypatch.setattr(registry, "default", lambda: found)
    return found


def study(
    folder: Path | Checkpoint | None, splits: int = 4, **options: object
) -> tuple[xr.Dataset, list[str]]:
    predictions, lam = sites(60)
    asked = {**OPTIONS, "splits": splits, "checkpoint": folder, **options}
    return heard(lambda: compare(predictions, lam, METHODS, **asked).data)  # type: ignore[arg-type]  # by name


def test_a_study_that_was_stopped_goes_on(tmp_path: Path, computed: list[int]) -> None:
    steps: list[tuple[int, int]] = []

    def stop(done: int, total: int) -> None:
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        study(tmp_path / "kept", progress=stop)
    assert computed == [0, 1, 2]
    assert Checkpoint(folder=tmp_path / "kept").finished(4) == 3
    (tmp_path / "kept" / "split-1.json").unlink()
    computed.clear()
    result, told = study(tmp_path / "kept", progress=lambda *step: steps.append(step))
    assert computed == [1, 3]
    assert steps == [(2, 4), (3, 4), (4, 4)]
    computed.clear()
    again, twice = study(tmp_path / "kept")
    assert computed == []
    expected, said = study(None)
    for one in (result, again):
        xr.testing.assert_identical(one, expected)
        assert {n: v.dtype for n, v in one.variables.items()} == {
            n: v.dtype for n, v in expected.variables.items()
        }
    assert told == said == twice
    assert sum("grumbling" in text for text in told) == 1
    assert sum("guarantee-vacuous" in text for text in told) >= 1


def test_more_splits_reuse_those_that_there_are_whatever_the_rows(
    tmp_path: Path, computed: list[int]
) -> None:
    predictions, lam = sites(60)
    options: dict[str, object] = {**OPTIONS, "checkpoint": tmp_path}
    turned = predictions[::-1], lam[:, ::-1]
    for splits, arrays, new in (
        (2, (predictions, lam), [0, 1]),
        (4, turned, [2, 3]),
        (3, (predictions, lam), []),
    ):
        computed.clear()
        found = heard(lambda a=arrays, n=splits: compare(*a, METHODS, splits=n, **options).data)[0]  # type: ignore[arg-type,misc]  # by name
        assert computed == new
    many = study(None)[0]
    xr.testing.assert_equal(found[["set_size"]], many[["set_size"]].isel(split=slice(3)))


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_a_study_that_was_killed_goes_on(tmp_path: Path, computed: list[int]) -> None:
    body = """
    def killed(done, total):
        if done == 3:
            os.kill(os.getpid(), signal.SIGKILL)

    plausibly.compare(predictions, lam, ["expected", "monte-carlo"], alphas=["0.2"], splits=6,
                      checkpoint="kept", progress=killed).data
    """
    with script(tmp_path, body) as running:
        _, err = running.communicate(timeout=120)
    assert (running.returncode, err) == (-signal.SIGKILL, "")
    predictions, lam = sites()
    options: dict[str, object] = {"alphas": ["0.2"], "splits": 6}
    kept = tmp_path / "kept"
    result = compare(predictions, lam, ["expected", "monte-carlo"], checkpoint=kept, **options).data  # type: ignore[arg-type]  # by name
    assert computed == [3, 4, 5]
    expected = compare(predictions, lam, ["expected", "monte-carlo"], **options).data  # type: ignore[arg-type]  # by name
    xr.testing.assert_identical(result, expected)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        (
            {"seed": 5, "cluster": None},
            ["seed 5, was 4", 'cluster null, was "patient"'],
        ),
        ({"sizes": [12]}, ["sizes [12], was [12, 20]"]),
        ({"draws": None}, ["draws null, was [1, 3]"]),
        ({"ties": "any"}, ['ties "any", was "first"']),
        ({"stratify": None}, ["strata"]),
        ({"true_label": "known"}, ["known labels"]),
    ],
)
def test_what_differs_is_told(tmp_path: Path, changes: dict[str, object], told: list[str]) -> None:
    predictions, lam = sites(60)
    known = predictions.assign_coords(known=("example", lam.idxmax("label").values))
    options = {**OPTIONS, "splits": 1, "checkpoint": tmp_path}
    methods = {"majority-vote": {"calibrator": "majority-vote"}}
    compare(known, lam, methods, **options)  # type: ignore[arg-type]  # by name
    with pytest.raises(InputError) as refused:
        compare(known, lam, methods, **{**options, **changes})  # type: ignore[arg-type]  # by name
    assert refused.value.name == "checkpoint-other"
    assert refused.value.details["differences"] == told


def test_other_data_and_methods_are_told(tmp_path: Path) -> None:
    predictions, lam = sites(60)
    methods: dict[str, MethodTable] = {
        "a": {"calibrator": "majority-vote"},
        "b": {"calibrator": {"name": "monte-carlo", "draws": 3}},
    }

    def told(
        model: xr.DataArray, said: xr.DataArray, methods: dict[str, MethodTable] = methods
    ) -> object:
        with pytest.raises(InputError) as refused:
            compare(model, said, methods, splits=1, alphas=0.2, checkpoint=tmp_path)
        return refused.value.details["differences"]

    compare(predictions, lam, methods, splits=1, alphas=0.2, checkpoint=tmp_path)
    assert told(predictions.copy(data=predictions.values[:, ::-1]), lam) == ["predictions"]
    assert told(predictions, lam.copy(data=lam.values[:, ::-1])) == ["plausibilities"]
    assert told(predictions[:-1], lam[:-1]) == [
        'coordinate "example"',
        'coordinate "patient"',
        'coordinate "site"',
        "predictions",
        "plausibilities",
    ]
    elsewhere = predictions.assign_coords(site=("example", ["west"] * 60))
    assert told(elsewhere, lam) == ['coordinate "site"']
    more = {**methods, "b": {"calibrator": {"name": "monte-carlo", "draws": 4}}, "c": {}}
    assert told(predictions, lam, methods=more) == [
        'methods ["a", "b", "c"], was ["a", "b"]',
        'method "b"',
        'method "c"',
    ]
    assert told(predictions, lam, methods=dict(reversed(methods.items()))) == [
        'methods ["b", "a"], was ["a", "b"]'
    ]


def test_splits_of_another_version_are_refused(tmp_path: Path) -> None:
    study(tmp_path, 1)
    about = json.loads((tmp_path / MANIFEST).read_text())
    assert about['method "drawn"']["calibrator"]["name"] == "monte-carlo"
    (tmp_path / MANIFEST).write_text(json.dumps({**about, "plausibly": "0.0.9", "format": 0}))
    with pytest.raises(InputError) as refused:
        study(tmp_path, 1)
    assert refused.value.found == f'format 1, was 0, plausibly "{about["plausibly"]}", was "0.0.9"'


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("mine.txt", "kept", "no study.json in it"),
        (MANIFEST, "[1]", "study.json that is no table"),
        (MANIFEST, "{", "study.json that cannot be read: "),
    ],
)
def test_a_folder_of_something_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, text: str, found: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("kept").mkdir()
    Path("kept", name).write_text(text)
    with pytest.raises(InputError) as refused:
        study(Path("kept"))
    assert refused.value.name == "checkpoint-unknown"
    assert refused.value.found.startswith(found)
    assert Path("kept", name).read_text() == text


def test_a_file_is_no_folder_and_some_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("kept")
    with pytest.raises(InputError) as refused:
        study(tmp_path / "file")
    assert refused.value.found == "a file"

    def refuses(*arguments: object, **options: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "mkdir", refuses)
    with pytest.raises(InputError) as unwritable:
        study(tmp_path / "new")
    assert unwritable.value.name == "output-unwritable"


@pytest.mark.parametrize("text", ["", "{}", "[]"])
def test_a_split_that_cannot_be_read_is_computed_again(
    tmp_path: Path, computed: list[int], text: str
) -> None:
    expected, _ = study(tmp_path, 2)
    (tmp_path / "split-1.json").write_text(text)
    computed.clear()
    again, _ = study(tmp_path, 2)
    assert computed == [1]
    xr.testing.assert_identical(again, expected)
    # One that is not what its name says is none either.
    (tmp_path / "split-0.json").write_bytes((tmp_path / "split-1.json").read_bytes())
    computed.clear()
    study(tmp_path, 2)
    assert computed == [0]


def test_what_a_killed_study_left_half_written_is_no_hindrance(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    for name in (MANIFEST, "split-3.json"):
        left = kept / f".plausibly-part-{name}" / "new"
        left.mkdir(parents=True)
        (left / name).write_text("half")
    result, _ = study(kept, 2)
    checkpoint = Checkpoint(folder=kept)
    assert checkpoint.finished(2) == 2
    checkpoint.discard()
    assert not kept.exists()
    xr.testing.assert_identical(result, study(None, 2)[0])


def test_discarding_leaves_the_files_of_others(tmp_path: Path) -> None:
    study(tmp_path, 2)
    (tmp_path / "mine.txt").write_text("kept")
    Checkpoint(folder=tmp_path).discard()
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]
    Checkpoint(folder=tmp_path / "never").discard()


def test_what_takes_no_time_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    checkpoint = Checkpoint(folder=tmp_path / "kept", patience=100.0)
    study(checkpoint, 2)
    assert not (tmp_path / "kept").exists()
    now = 0.0

    def later() -> float:
        nonlocal now
        now += 10.0
        return now

    monkeypatch.setattr("time.monotonic", later)
    study(Checkpoint(folder=tmp_path / "kept", patience=25.0), 4)
    assert Checkpoint(folder=tmp_path / "kept").finished(4) == 4


def test_components_that_have_no_name_are_refused(tmp_path: Path) -> None:
    predictions, lam = sites(20)
    methods: dict[str, MethodTable] = {"mine": {"calibrator": Failing(share=0.0)}}
    with pytest.raises(InputError) as refused:
        compare(predictions, lam, methods, splits=1, alphas=0.3, checkpoint=tmp_path)
    assert refused.value.name == "checkpoint-component"
    compare(predictions, lam, methods, splits=1, alphas=0.3)


@pytest.mark.parametrize(
    ("message", "again"),
    [
        (Tired("so"), FutureWarning("so")),
        (DeprecationWarning("old"), DeprecationWarning("old")),
        (Warning("plain"), Warning("plain")),
        (PlausiblyWarning("a-name", "what", details={"b": [1]}), None),
    ],
)
def test_warnings_are_read_as_they_were_written(message: Warning, again: Warning | None) -> None:
    said = Recorded(
        message=message, filename="f.py", line=3, split=1, method="m", size=None, draws=2
    )
    read = Recorded.from_json(json.loads(json.dumps(said.to_json())))
    assert (read.filename, read.line, read.split, read.method) == ("f.py", 3, 1, "m")
    assert (read.size, read.draws) == (None, 2)
    if isinstance(message, PlausiblyWarning):
        assert isinstance(read.message, PlausiblyWarning)
        assert read.message.fields() == message.fields()
    else:
        assert repr(read.message) == repr(again)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # A file names no code: what is no warning of Python's is one without a name.
        forged = {**said.to_json(), "message": {"kind": "exit", "text": "out"}}
        assert repr(Recorded.from_json(forged).message) == "UserWarning('out')"
    with pytest.raises(TypeError):
        Recorded.from_json({**said.to_json(), "message": "text"})
