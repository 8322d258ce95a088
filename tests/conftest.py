"""Fixtures, markers and settings for every test.

Tests import the installed packages, never the source tree, and find the project from their own
place: so they run the same from a checkout, from the source distribution and against a wheel.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import settings

PROJECT = Path(__file__).resolve().parents[1]
IN_CI = bool(os.environ.get("CI"))
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
DRIVERS = ("playwright", "axe_playwright_python")
BUILDS = {"built", "installed"}  # fixtures that build wheels or environments
NEEDS = {"shared": "realdata", "chromium": "browser"}  # what a fixture asks of a test that uses it

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


def browser_program() -> str | None:
    """Return the Chromium that is installed, if what drives it is installed too."""
    if any(find_spec(driver) is None for driver in DRIVERS):
        return None
    return next((result for name in BROWSERS if (result := shutil.which(name))), None)


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


@pytest.fixture(scope="session")
def chromium() -> str:
    """Program of the browser; only tests marked ``browser`` may ask for it."""
    program = browser_program()
    if program is None:
        pytest.fail("no Chromium with playwright and axe-playwright-python: tox -e browser")
    return program


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the tests whose surroundings are missing; real data are never missing in CI."""
    unmarked = {
        f"mark with {marker}: {item.nodeid}"
        for item in items
        for fixture, marker in NEEDS.items()
        if fixture in getattr(item, "fixturenames", ()) and not item.get_closest_marker(marker)
    }
    if unmarked:
        raise pytest.UsageError(", ".join(sorted(unmarked)))
    for item in items:
        if BUILDS & {*getattr(item, "fixturenames", ())}:
            item.add_marker(pytest.mark.packaging)
        if getattr(getattr(item, "obj", None), "is_hypothesis_test", False):
            # Names that are drawn may look alike, which is no news there.
            item.add_marker(pytest.mark.filterwarnings("ignore:warning names-alike"))
    missing = set()
    if not IN_CI and shared_folder() is None:
        missing.add("realdata")
    if browser_program() is None:
        missing.add("browser")
    left_out = {item for item in items if any(map(item.get_closest_marker, missing))}
    if left_out:
        config.hook.pytest_deselected(items=[item for item in items if item in left_out])
        items[:] = [item for item in items if item not in left_out]


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


def pytest_configure(config: pytest.Config) -> None:
    """Count what runs, in the process that reports: workers of xdist run only a share."""
    if not hasattr(config, "workerinput") and not config.option.collectonly:
        config.pluginmanager.register(_Executed(), "executed")
