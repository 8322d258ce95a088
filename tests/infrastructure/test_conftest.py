"""The test run itself: none passes that tested nothing, and real data are never left out in CI."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

REAL = """
import pytest

@pytest.mark.realdata
def test_reads(shared):
    assert (shared / "data").is_dir()

def test_other():
    pass
"""


def run(folder: Path, source: str, *options: str, **environment: str) -> tuple[int, str]:
    """Run pytest on `source` with our conftest, in a project of its own without real data."""
    project = folder / "project"
    tests = project / "tests"
    tests.mkdir(parents=True, exist_ok=True)
    conftest = Path(__file__).resolve().parents[1] / "conftest.py"
    (tests / "conftest.py").write_text(conftest.read_text("utf-8"), "utf-8")
    (tests / "test_it.py").write_text(source, "utf-8")
    (project / "pytest.ini").write_text("[pytest]\nmarkers =\n realdata\n browser\n", "utf-8")
    inherited = {
        key: value
        for key, value in os.environ.items()
        if key not in {"CI", "PLAUSIBLY_SHARED"} and not key.startswith(("PYTEST_", "COV"))
    }
    # Plugins load only where they are named: each would cost every run a second.
    inherited["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *options],
        cwd=project,
        env=inherited | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def test_without_real_data_their_tests_are_deselected(tmp_path: Path) -> None:
    code, output = run(tmp_path, REAL)
    assert (code, "1 passed, 1 deselected" in output) == (0, True), output


def test_in_ci_missing_real_data_fail(tmp_path: Path) -> None:
    code, output = run(tmp_path, REAL, CI="true")
    assert code == 1, output
    assert "real data are missing: put the folder `shared` beside the project" in output


@pytest.mark.parametrize("named", [True, False])
def test_real_data_are_found_beside_the_project_or_where_the_user_says(
    tmp_path: Path, named: bool
) -> None:
    folder = tmp_path / ("elsewhere" if named else "shared")
    (folder / "data").mkdir(parents=True)
    environment = {"PLAUSIBLY_SHARED": str(folder)} if named else {}
    code, output = run(tmp_path, REAL, **environment)
    assert (code, "2 passed" in output) == (0, True), output


def test_real_data_without_the_marker_are_refused(tmp_path: Path) -> None:
    code, output = run(tmp_path, "def test_it(shared):\n    pass\n")
    assert code == 4, output
    assert "mark with realdata: tests/test_it.py::test_it" in output


PAGE = """
import pytest

@pytest.mark.browser
def test_opens(chromium):
    assert chromium.endswith("chromium")

def test_other():
    pass
"""


@pytest.fixture
def with_browser(tmp_path: Path) -> dict[str, str]:
    """Return the environment of one who has a browser and what drives it, or what looks so."""
    programs = tmp_path / "programs"
    for driver in ("playwright", "axe_playwright_python"):
        (tmp_path / "drivers" / driver).mkdir(parents=True)
        (tmp_path / "drivers" / driver / "__init__.py").touch()
    programs.mkdir()
    (programs / "chromium").touch(0o755)
    return {"PATH": str(programs), "PYTHONPATH": str(tmp_path / "drivers")}


def test_pages_are_opened_where_a_browser_is(tmp_path: Path, with_browser: dict[str, str]) -> None:
    code, output = run(tmp_path, PAGE, **with_browser)
    assert (code, "2 passed" in output) == (0, True), output


def test_without_a_browser_its_tests_are_deselected(
    tmp_path: Path, with_browser: dict[str, str]
) -> None:
    (tmp_path / "programs" / "chromium").unlink()
    code, output = run(tmp_path, PAGE, CI="true", **with_browser)
    assert (code, "1 passed, 1 deselected" in output) == (0, True), output


def test_a_browser_without_the_marker_is_refused(tmp_path: Path) -> None:
    code, output = run(tmp_path, "def test_it(chromium):\n    pass\n")
    assert code == 4, output
    assert "mark with browser: tests/test_it.py::test_it" in output


SKIPPED = "import pytest\n\ndef test_it():\n    pytest.skip('no')\n"


@pytest.mark.parametrize("options", [(), ("-p", "xdist", "-n", "1")])
def test_a_run_in_which_no_test_ran_fails(tmp_path: Path, options: tuple[str, ...]) -> None:
    code, output = run(tmp_path, SKIPPED, *options)
    assert (code, "1 skipped" in output) == (5, True), output
