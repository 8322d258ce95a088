"""The test run itself, in a project of its own with our conftest.

No run passes that tested nothing, and real data are never left out in CI.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
CONFTEST = Path(__file__).resolve().parents[1] / "conftest.py"
PYTEST = ("-m", "pytest", "-p", "no:cacheprovider")

REAL = """
import pytest

@pytest.mark.realdata
def test_reads(shared):
    assert (shared / "data").is_dir()

def test_other():
    pass
"""
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


def written(folder: Path, source: str) -> Path:
    """Write a project whose only test module has this source."""
    project = folder / "project"
    (project / "tests").mkdir(parents=True)
    (project / "tests" / "conftest.py").write_text(CONFTEST.read_text("utf-8"), "utf-8")
    (project / "tests" / "test_it.py").write_text(source, "utf-8")
    settings = "[pytest]\nmarkers =\n realdata\n browser\npythonpath = .\n"
    (project / "pytest.ini").write_text(settings, "utf-8")
    return project


def run(project: Path, *words: str, **environment: str) -> tuple[int, str]:
    """Run Python on a project, without real data and as outside of CI."""
    inherited = {
        key: value
        for key, value in os.environ.items()
        if key not in {"CI", "PLAUSIBLY_SHARED"} and not key.startswith(("PYTEST_", "COV"))
    }
    # Plugins load only where they are named: each would cost every run a second.
    inherited["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    done = subprocess.run(
        [sys.executable, *words],
        cwd=project,
        env=inherited | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


DRIVERS = tuple(f"drivers/{name}/__init__.py" for name in ("playwright", "axe_playwright_python"))
BROWSER = {"PATH": "{folder}/programs", "PYTHONPATH": "{folder}/drivers", "CI": "true"}
NAMED = {"PLAUSIBLY_SHARED": "{folder}/elsewhere"}
XDIST = ("-p", "xdist", "-n", "1")


@pytest.mark.parametrize(
    ("source", "files", "environment", "options", "code", "says"),
    [
        (REAL, (), {}, (), 0, "1 passed, 1 deselected"),
        (REAL, (), {"CI": "true"}, (), 1, "real data are missing: put the folder `shared` beside"),
        (REAL, ("shared/data/x",), {}, (), 0, "2 passed"),
        (REAL, ("elsewhere/data/x",), NAMED, (), 0, "2 passed"),
        (SHARED, (), {}, (), 4, "mark with realdata: tests/test_it.py::test_it"),
        (CHROMIUM, (), {}, (), 4, "mark with browser: tests/test_it.py::test_it"),
        (PAGE, DRIVERS, BROWSER, (), 0, "1 passed, 1 deselected"),
        (PAGE, (*DRIVERS, "programs/chromium"), BROWSER, (), 0, "2 passed"),
        (SKIPPED, (), {}, (), 5, "1 skipped"),
        (SKIPPED, (), {}, XDIST, 5, "1 skipped"),
    ],
)
def test_a_run(
    tmp_path: Path,
    source: str,
    files: tuple[str, ...],
    environment: dict[str, str],
    options: tuple[str, ...],
    code: int,
    says: str,
) -> None:
    for name in files:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch(0o755)
    places = {name: value.format(folder=tmp_path) for name, value in environment.items()}
    status, output = run(written(tmp_path, source), *PYTEST, *options, **places)
    assert (status, says in output) == (code, True), output
