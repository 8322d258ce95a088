"""Studies in several processes: the same bits, the same warnings, and an end when we say so."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path
from types import ModuleType

import pytest
import xarray as xr

from components import Failing, Grumbling
from plausibly import compare
from plausibly.errors import InputError
from plausibly.evaluation.design import MethodTable
from refusals import refused

from .studies import script, sites, with_warnings

METHODS: dict[str, MethodTable] = {
    "majority-vote": {"calibrator": "majority-vote", "score": Grumbling()},
    "drawn": {"calibrator": {"name": "monte-carlo", "draws": 3}, "combiner": "maximum"},
    "ecdf": {"calibrator": "monte-carlo", "combiner": "ecdf"},
    "random": {"calibrator": "expected", "score": "aps"},
}


def test_the_result_and_the_warnings_are_those_of_one_process() -> None:
    predictions, plausibilities = sites(80)
    steps: dict[int, list[tuple[int, int]]] = {1: [], 2: []}

    def study(processes: int) -> xr.Dataset:
        return compare(
            predictions,
            plausibilities,
            METHODS,
            alphas=["0.1", 0.25],
            splits=3,
            cluster="patient",
            stratify="site",
            sizes=[8, 30],
            draws=[2, 3],
            ties="random",
            true_label=plausibilities.idxmax("label"),
            processes=processes,
            progress=lambda *step: steps[processes].append(step),
        ).data

    (alone, warned), (several, again) = (with_warnings(lambda n=n: study(n)) for n in (1, 2))  # type: ignore[misc]  # n is bound
    xr.testing.assert_identical(alone, several)
    assert warned == again
    assert sum("grumbling" in text for text in warned) == 1
    assert sum("and tired" in text for text in warned) == 1
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


RUN = """
compare = plausibly.compare
compare(predictions, lam, {"slow": {"calibrator": Slow(seconds=seconds)}}, splits=1000,
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
