"""Studies that stop and continue, and run in several processes: with the same bits."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import textwrap
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest
import xarray as xr

from components import Failing, Grumbling, Slow
from plausibly import compare, registry
from plausibly.errors import InputError
from plausibly.evaluation.checkpoint import MANIFEST, Checkpoint
from plausibly.evaluation.design import Design, MethodTable, Outcome
from plausibly.plugin import CALIBRATOR, SCORE
from plausibly.registry import Registry
from refusals import refused

from .studies import sites

METHODS: dict[str, MethodTable] = {
    "majority-vote": {"calibrator": "majority-vote", "score": "grumbling"},
    "drawn": {"calibrator": {"name": "monte-carlo", "draws": 3}, "combiner": "maximum"},
    "none": {"calibrator": "monte-carlo", "combiner": "fisher", "allow_no_guarantee": True},
    "ecdf": {"calibrator": "monte-carlo", "combiner": "ecdf"},
}
ONE = {"drawn": METHODS["drawn"]}
OPTIONS: dict[str, object] = {
    "alphas": ["0.1", 0.25],
    "sizes": [12, 20],
    "draws": [1, 3],
    "cluster": "patient",
    "stratify": "site",
    "seed": 4,
}
PREDICTIONS, LAM = sites(60)


@pytest.fixture(autouse=True)
def own(monkeypatch: pytest.MonkeyPatch) -> None:
    components = Registry()
    components.register(SCORE, "grumbling", Grumbling)
    components.register(CALIBRATOR, "slow", Slow)
    monkeypatch.setattr(registry, "default", lambda: components)


def with_warnings(call: Callable[[], xr.Dataset]) -> tuple[xr.Dataset, list[str]]:
    """Return a study, and what it warned of, with the details and the built-in kind."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        study = call()
    messages = []
    for warning in caught:
        kind = next(base for base in warning.category.__mro__ if base.__module__ == "builtins")
        details = getattr(warning.message, "details", None)
        messages.append(f"{kind.__name__}: {warning.message}\n{details}")
    return study, messages


def study(
    folder: Path | None,
    splits: int = 4,
    *,
    predictions: xr.DataArray = PREDICTIONS,
    plausibilities: xr.DataArray = LAM,
    methods: dict[str, MethodTable] = METHODS,
    **options: object,
) -> tuple[xr.Dataset, list[str]]:
    chosen = {**OPTIONS, "splits": splits, "checkpoint": folder, **options}
    return with_warnings(lambda: compare(predictions, plausibilities, methods, **chosen).data)  # type: ignore[arg-type]  # by name


@pytest.fixture
def computed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The splits that are computed in this process, as they are."""
    numbers: list[int] = []
    run = Design.run

    def counts(self: Design, number: int) -> Outcome:
        numbers.append(number)
        return run(self, number)

    monkeypatch.setattr(Design, "run", counts)
    return numbers


def test_a_stopped_study_continues(tmp_path: Path, computed: list[int]) -> None:
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
    result, messages = study(tmp_path / "kept", progress=lambda *step: steps.append(step))
    assert computed == [1, 3]
    assert steps == [(2, 4), (3, 4), (4, 4)]
    computed.clear()
    again, twice = study(tmp_path / "kept")
    assert computed == []
    expected, once = study(None)
    for read in (result, again):
        xr.testing.assert_identical(read, expected)
        types = {name: values.dtype for name, values in expected.variables.items()}
        assert {name: values.dtype for name, values in read.variables.items()} == types
    assert messages == once == twice
    assert sum("grumbling" in text for text in messages) == 1
    assert sum("FutureWarning: and tired" in text for text in messages) == 1
    assert sum("guarantee-vacuous" in text for text in messages) >= 1


def test_finished_splits_serve_any_number_of_splits(tmp_path: Path, computed: list[int]) -> None:
    study(tmp_path, 2, methods=ONE)
    study(tmp_path, 4, methods=ONE)
    assert computed == [0, 1, 2, 3]
    three = study(tmp_path, 3, methods=ONE)[0]
    assert computed == [0, 1, 2, 3]
    large = study(None, methods=ONE)[0]
    xr.testing.assert_equal(three[["set_size"]], large[["set_size"]].isel(split=slice(3)))


OTHER: dict[str, MethodTable] = {
    "drawn": {"calibrator": {"name": "monte-carlo", "draws": 4}, "combiner": "maximum"},
    "expected": {},
}
COORDINATES = [f'coordinate "{name}"' for name in ("example", "patient", "site")]
WEST = PREDICTIONS.assign_coords(site=("example", ["west"] * 60))


@pytest.mark.parametrize(
    ("changes", "differences"),
    [
        ({"seed": 5, "cluster": None}, ["seed 5, was 4", 'cluster null, was "patient"']),
        ({"sizes": [12]}, ["sizes [12], was [12, 20]"]),
        ({"draws": None}, ["draws null, was [1, 3]"]),
        ({"ties": "any"}, ['ties "any", was "first"']),
        ({"stratify": None}, ["strata"]),
        ({"true_label": LAM.idxmax("label")}, ["known labels"]),
        ({"predictions": PREDICTIONS.copy(data=PREDICTIONS.values[:, ::-1])}, ["predictions"]),
        ({"plausibilities": LAM.copy(data=LAM.values[:, ::-1])}, ["plausibilities"]),
        (
            {"predictions": PREDICTIONS[:-2], "plausibilities": LAM[:-2], "stratify": None},
            [*COORDINATES, "predictions", "plausibilities", "strata"],
        ),
        ({"predictions": WEST}, ['coordinate "site"', "strata"]),
        (
            {"methods": OTHER},
            ['methods ["drawn", "expected"], was ["drawn"]', 'method "drawn"', 'method "expected"'],
        ),
    ],
)
def test_another_study_is_refused_with_its_differences(
    tmp_path: Path, changes: dict[str, object], differences: list[str]
) -> None:
    study(tmp_path, 1, methods=ONE)
    with refused("checkpoint-other") as caught:
        study(tmp_path, 1, **{"methods": ONE, **changes})  # type: ignore[arg-type]  # by name
    assert caught.value.details["differences"] == differences


def test_rows_in_another_order_are_the_same_study(tmp_path: Path, computed: list[int]) -> None:
    first, _ = study(tmp_path, 2, methods=ONE)
    second, _ = study(tmp_path, 2, methods=ONE, predictions=PREDICTIONS[::-1])
    third, _ = study(tmp_path, 2, methods=ONE, plausibilities=LAM[::-1])
    assert computed == [0, 1]
    xr.testing.assert_identical(first, second)
    xr.testing.assert_identical(first, third)


def test_splits_of_another_version_or_format_are_refused(tmp_path: Path) -> None:
    study(tmp_path, 1, methods=ONE)
    about = json.loads((tmp_path / MANIFEST).read_text())
    (tmp_path / MANIFEST).write_text(json.dumps({**about, "plausibly": "0.0.9", "format": 0}))
    with pytest.raises(InputError, match="checkpoint-other") as refused:
        study(tmp_path, 1, methods=ONE)
    assert refused.value.found == f'format 1, was 0, plausibly "{about["plausibly"]}", was "0.0.9"'


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("mine.txt", "kept", "No such file or directory"),
        (MANIFEST, "[1]", "cannot convert dictionary"),
        ("", "kept", "Not a directory"),
    ],
)
def test_a_folder_of_something_else_is_refused(
    tmp_path: Path, name: str, text: str, problem: str
) -> None:
    file = tmp_path / "kept" / name
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)
    with refused("checkpoint-unknown") as caught:
        study(tmp_path / "kept")
    assert problem in caught.value.found
    assert file.read_text() == text


def test_a_split_that_cannot_be_read_is_computed_again(tmp_path: Path, computed: list[int]) -> None:
    expected, _ = study(tmp_path, 2, methods=ONE)
    for content in (b"", b"{}", b"[]"):
        (tmp_path / "split-1.json").write_bytes(content)
        computed.clear()
        again, _ = study(tmp_path, 2, methods=ONE)
        assert computed == [1]
        xr.testing.assert_identical(again, expected)


def test_half_written_files_of_a_killed_study_are_computed_again(tmp_path: Path) -> None:
    expected, _ = study(tmp_path, 2, methods=ONE)
    (tmp_path / "split-1.json").unlink()
    for name in (MANIFEST, "split-1.json", "split-7.json"):
        (tmp_path / f"{name}-part").write_text('{"number": 1')
    assert Checkpoint(folder=tmp_path).finished(8) == 1
    again, _ = study(tmp_path, 2, methods=ONE)
    xr.testing.assert_identical(again, expected)
    (tmp_path / "mine.txt").write_text("kept")
    Checkpoint(folder=tmp_path).discard()
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]
    (tmp_path / "mine.txt").unlink()
    for _ in range(2):  # also where there is nothing any more
        Checkpoint(folder=tmp_path).discard()
        assert not tmp_path.exists()


def test_components_without_a_name_are_refused(tmp_path: Path) -> None:
    methods: dict[str, MethodTable] = {"mine": {"calibrator": Failing(share=0.0)}}
    with pytest.raises(InputError, match="checkpoint-component"):
        compare(PREDICTIONS, LAM, methods, splits=1, alphas=0.3, checkpoint=tmp_path)
    compare(PREDICTIONS, LAM, methods, splits=1, alphas=0.3)


# ---- several processes: the same bits, the same warnings, and an end when we say so


def test_the_result_and_the_warnings_are_those_of_one_process() -> None:
    steps: dict[int, list[tuple[int, int]]] = {1: [], 2: []}
    methods = {name: METHODS[name] for name in ("majority-vote", "drawn", "ecdf")}
    methods["random"] = {"score": "aps"}
    alone, several = (
        study(
            None,
            3,
            methods=methods,
            ties="random",
            true_label=LAM.idxmax("label"),
            processes=processes,
            progress=lambda *step, processes=processes: steps[processes].append(step),
        )
        for processes in (1, 2)
    )
    xr.testing.assert_identical(alone[0], several[0])
    assert alone[1] == several[1]
    assert sum("grumbling" in text for text in alone[1]) == 1
    assert sum("and tired" in text for text in alone[1]) == 1
    assert steps[1] == steps[2] == [(number, 3) for number in range(1, 4)]


def failure(share: float, how: str, processes: int) -> InputError:
    methods = {"failing": {"calibrator": Failing(share=share, how=how)}}
    with pytest.raises(InputError) as caught:
        compare(*sites(20), methods, splits=12, alphas=0.3, processes=processes)
    return caught.value


def test_the_error_is_that_of_the_first_split_that_fails() -> None:
    alone, several = (failure(0.3, "input", processes) for processes in (1, 2))
    assert several.fields() == alone.fields()
    assert several.details == {"a": 1}
    assert "in calibrate" in str(several.__cause__)


def test_a_process_that_ends_is_noticed() -> None:
    error = failure(1.0, "exit", 2)
    assert (error.name, error.found) == ("process-ended", "exit code 7")


def test_a_class_that_only_this_process_knows_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """One of a function cannot be sent, and one of a notebook is not found over there."""

    class Local(Failing):
        pass

    notebook = ModuleType("notebook")
    lost = type("Lost", (Failing,), {"__module__": "notebook", "__qualname__": "Lost"})
    notebook.Lost = lost  # type: ignore[attr-defined]  # as a cell makes one
    monkeypatch.setitem(sys.modules, "notebook", notebook)
    for calibrator, found in ((Local(), "Local"), (lost(), "found No module named 'notebook'")):
        methods: dict[str, MethodTable] = {"e": {}, "mine": {"calibrator": calibrator}}
        with refused("method-unsent", found):
            compare(*sites(20), methods, splits=2, alphas=0.3, processes=2)


SCRIPT = """\
import os, signal, sys
import plausibly
from components import Failing, Slow
from studies import sites

def main():
    # What a shell runs in the background ignores interrupts, and so would this.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    predictions, lam = sites()
{body}

if __name__ == "__main__":
    main()
"""


@contextlib.contextmanager
def script(folder: Path, body: str, *, guarded: bool = True) -> Iterator[subprocess.Popen[str]]:
    """Start a script that has `predictions` and `lam`, in a session of its own."""
    text = SCRIPT.replace("{body}", textwrap.indent(textwrap.dedent(body), "    "))
    if not guarded:
        text = text.replace('if __name__ == "__main__":\n    main()', "main()")
    file = folder / "script.py"
    file.write_text(text, encoding="utf-8")
    here = Path(__file__).parent
    folders = [str(here), str(here.parent / "support"), os.environ.get("PYTHONPATH", "")]
    path = os.pathsep.join(folders)
    with subprocess.Popen(
        [sys.executable, "-W", "ignore", str(file)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as running:
        try:
            yield running
        finally:
            running.kill()


RUN = """
compare = plausibly.compare
compare(predictions, lam, {"slow": {"calibrator": Slow(seconds=seconds, processes=2)}}, splits=1000,
        alphas=0.3, processes=2, progress=lambda *step: print(*step, flush=True)).data
"""


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="signals of POSIX")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_processes_end_when_the_study_is_stopped(tmp_path: Path, number: signal.Signals) -> None:
    # The first split of each process takes a moment, the others longer than an end may take.
    with script(tmp_path, f"seconds = 20.0\n{RUN}") as running:
        assert running.stdout is not None
        assert [running.stdout.readline() for _ in range(2)] == ["1 1000\n", "2 1000\n"]
        started = time.monotonic()
        if number == signal.SIGINT:
            os.killpg(running.pid, number)  # as a terminal does: all of them
        else:
            running.send_signal(number)
        # The output ends when every process that could write has ended.
        _, err = running.communicate(timeout=60)
    assert time.monotonic() - started < 15
    assert running.returncode != 0
    assert err.count("Traceback") == (number == signal.SIGINT)


def test_a_script_without_a_guard_is_an_error_with_a_hint(tmp_path: Path) -> None:
    with script(tmp_path, "seconds = 0.0\n" + RUN, guarded=False) as running:
        _, err = running.communicate(timeout=60)
    assert running.returncode == 1
    assert "error process-ended:" in err
    assert 'call compare below if __name__ == "__main__":' in err
