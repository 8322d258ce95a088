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


PAGE = """
import pytest

@pytest.mark.browser
def test_opens(chromium):
    assert chromium.endswith("chromium")

def test_other():
    pass
"""


SKIPPED = "import pytest\n\ndef test_it():\n    pytest.skip('no')\n"
SHARED, CHROMIUM = (f"def test_it({name}):\n    pass\n" for name in ("shared", "chromium"))


@pytest.mark.parametrize(
    ("source", "options", "environment", "code", "says"),
    [
        (REAL, (), {}, 0, "1 passed, 1 deselected"),
        (REAL, (), {"CI": "true"}, 1, "real data are missing: put the folder `shared` beside"),
        (SHARED, (), {}, 4, "mark with realdata: tests/test_it.py::test_it"),
        (CHROMIUM, (), {}, 4, "mark with browser: tests/test_it.py::test_it"),
        (SKIPPED, (), {}, 5, "1 skipped"),
        (SKIPPED, ("-p", "xdist", "-n", "1"), {}, 5, "1 skipped"),
    ],
)
def test_what_a_run_without_data_and_browser_says(
    tmp_path: Path,
    source: str,
    options: tuple[str, ...],
    environment: dict[str, str],
    code: int,
    says: str,
) -> None:
    """A run in which no test ran fails, and so do real data that are missing in CI."""
    found, output = run(tmp_path, source, *options, **environment)
    assert (found, says in output) == (code, True), output


@pytest.mark.parametrize("named", [True, False])
def test_real_data_are_found_beside_the_project_or_where_the_user_says(
    tmp_path: Path, named: bool
) -> None:
    folder = tmp_path / ("elsewhere" if named else "shared")
    (folder / "data").mkdir(parents=True)
    environment = {"PLAUSIBLY_SHARED": str(folder)} if named else {}
    code, output = run(tmp_path, REAL, **environment)
    assert (code, "2 passed" in output) == (0, True), output


@pytest.mark.parametrize(("program", "says"), [(True, "2 passed"), (False, "1 passed, 1 deselect")])
def test_pages_are_opened_where_a_browser_is(tmp_path: Path, program: bool, says: str) -> None:
    """Or what looks like a browser and what drives it."""
    programs = tmp_path / "programs"
    for driver in ("playwright", "axe_playwright_python"):
        (tmp_path / "drivers" / driver).mkdir(parents=True)
        (tmp_path / "drivers" / driver / "__init__.py").touch()
    programs.mkdir()
    if program:
        (programs / "chromium").touch(0o755)
    environment = {"PATH": str(programs), "PYTHONPATH": str(tmp_path / "drivers"), "CI": "true"}
    code, output = run(tmp_path, PAGE, **environment)
    assert (code, says in output) == (0, True), output
