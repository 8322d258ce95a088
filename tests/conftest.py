"""Fixtures, markers and settings for every test.

Tests import the installed packages, never the source tree, and find the project from their own
place: so they run the same from a checkout, from the source distribution and against a wheel.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from coverage import Coverage

PROJECT = Path(__file__).resolve().parents[1]
IN_CI = bool(os.environ.get("CI"))
MEASURED = 0.5  # seconds of the processor, of each test

# Examples that were drawn once are drawn again in CI: a red run can be repeated. No deadline, since
# a loaded machine is not a fault of the code.
settings.register_profile("ci", derandomize=True, deadline=None, print_blob=True)
settings.register_profile("dev", deadline=None, max_examples=50)
settings.load_profile("ci" if IN_CI else "dev")


def shared_folder() -> Path | None:
    """Return the folder of real data beside the project, or the one that the user names."""
    named = os.environ.get("PLAUSIBLY_SHARED")
    folder = Path(named) if named else PROJECT.parent / "shared"
    return folder if (folder / "data").is_dir() else None


@pytest.fixture(scope="session")
def project() -> Path:
    """Root of the project, where ``pyproject.toml`` lies."""
    return PROJECT


@pytest.fixture(scope="session")
def shared() -> Path:
    """Folder of real data; only tests marked ``realdata`` may ask for it."""
    folder = shared_folder()
    if folder is None:
        pytest.fail("real data are missing: put the folder `shared` beside the project")
    return folder


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the tests on real data where there are none, but never silently in CI."""
    unmarked = [
        item.nodeid
        for item in items
        if "shared" in getattr(item, "fixturenames", ()) and not item.get_closest_marker("realdata")
    ]
    if unmarked:
        raise pytest.UsageError(f"mark with realdata: {', '.join(unmarked)}")
    if IN_CI or shared_folder() is not None:
        return
    left_out = [item for item in items if item.get_closest_marker("realdata")]
    items[:] = [item for item in items if not item.get_closest_marker("realdata")]
    config.hook.pytest_deselected(items=left_out)


class _Executed:
    """Counts the tests that ran to a verdict; a run in which none did is a failed run."""

    def __init__(self) -> None:
        self.tests = 0

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if not report.skipped:
            self.tests += report.when == "call"

    @pytest.hookimpl(wrapper=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> Iterator[None]:
        yield
        if session.exitstatus == pytest.ExitCode.OK and not self.tests:
            session.exitstatus = pytest.ExitCode.NO_TESTS_COLLECTED


class _Measured:
    """Measures coverage in the first moments of each test, and lets the rest run at full speed.

    The tracer makes Python up to three times as slow. A line that a test runs, it runs early; what
    comes later are the many rounds of a study, an oracle or a property.
    """

    def __init__(self, coverage: Coverage) -> None:
        self.coverage = coverage
        self.stopped = False
        signal.signal(signal.SIGVTALRM, self.stop)

    def stop(self, number: int, frame: FrameType | None) -> None:
        if not self.stopped:
            self.stopped = True
            self.coverage.stop()

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self) -> Iterator[None]:
        if self.stopped:
            self.stopped = False
            self.coverage.start()
        signal.setitimer(signal.ITIMER_VIRTUAL, MEASURED)
        try:
            return (yield)
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)


def pytest_configure(config: pytest.Config) -> None:
    """Count what runs, in the process that reports: workers of xdist run only a share."""
    if not hasattr(config, "workerinput") and not config.option.collectonly:
        config.pluginmanager.register(_Executed(), "executed")
    measuring = sys.modules.get("coverage")
    coverage = measuring and measuring.Coverage.current()
    if coverage and hasattr(signal, "setitimer"):  # Windows has none, and measures everything
        config.pluginmanager.register(_Measured(coverage), "measured")
