"""Coverage is measured in the first moments of every test, also of the one after a long one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
CONFTEST = Path(__file__).resolve().parents[1] / "conftest.py"
MODULE = """\
def early():
    return 1

def late():
    return 2

def after():
    return 3
"""
TESTS = """\
import time
import measured_module

def burn(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        sum(range(1000))

def test_long():
    measured_module.early()
    burn(SECONDS)
    measured_module.late()

def test_next():
    measured_module.after()
"""
SETTINGS = """\
[run]
branch = true
parallel = true
patch = subprocess
source_pkgs = measured_module
disable_warnings = module-not-imported,no-data-collected
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no timer of the processor")
@pytest.mark.parametrize("options", [(), ("-p", "xdist", "-n", "1")], ids=["alone", "xdist"])
def test_the_first_moments_are_measured(tmp_path: Path, options: tuple[str, ...]) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "conftest.py").write_text(CONFTEST.read_text("utf-8"), "utf-8")
    tests = TESTS.replace("SECONDS", "2.5")
    (tmp_path / "tests" / "test_it.py").write_text(tests, "utf-8")
    (tmp_path / "measured_module.py").write_text(MODULE, "utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = realdata\npythonpath = .\n", "utf-8")
    (tmp_path / "coveragerc").write_text(SETTINGS, "utf-8")
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(("PYTEST_", "COV"))}
    # Each plugin that loads by itself would cost every run a second.
    inherited |= {
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "COVERAGE_FILE": str(tmp_path / "measured"),
        "PYTHONPATH": str(tmp_path),
    }
    rules = f"--rcfile={tmp_path / 'coveragerc'}"
    for words in (
        ("run", rules, "-m", "pytest", "-p", "no:cacheprovider", *options),
        ("combine", "--quiet", rules),
        ("json", "--quiet", rules, "-o", "told.json"),
    ):
        done = subprocess.run(
            [sys.executable, "-m", "coverage", *words],
            cwd=tmp_path,
            env=inherited,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
    told = json.loads((tmp_path / "told.json").read_text("utf-8"))
    assert told["files"]["measured_module.py"]["missing_lines"] == [5]  # `late`
