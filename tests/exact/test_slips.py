"""Slips in lines that guarantees rest on: each line is there, and the tests notice the slip.

Applying them takes an hour: ``PLAUSIBLY_SLIPS=1 pytest tests/exact/test_slips.py``.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
SLIPS: list[dict[str, str]] = tomllib.loads(
    Path(__file__).with_name("slips.toml").read_text("utf-8")
)["slip"]
# Folders that may notice a slip, the quickest first.
NOTICED_BY = {
    "framework/plausibly/kernels": (
        "kernels",
        "data",
        "conformal",
        "combiners",
        "evaluation",
        "exact",
    ),
    "framework/plausibly/calibration": ("conformal", "combiners", "calibrators", "exact"),
    "plugins/plausibly_builtins/calibrators": ("conformal", "calibrators", "exact"),
    "plugins/plausibly_builtins/combiners": ("combiners", "conformal", "exact"),
}


def changed(slip: dict[str, str], text: str) -> str:
    """Return a file with a slip in it; its line must be there once."""
    lines = text.splitlines(keepends=True)
    (place,) = (place for place, line in enumerate(lines) if line.strip() == slip["old"])
    lines[place] = lines[place].replace(slip["old"], slip["new"])
    return "".join(lines)


@pytest.mark.parametrize("slip", SLIPS, ids=lambda slip: slip["old"][:40])
def test_the_line_of_a_slip_is_there_once(slip: dict[str, str], project: Path) -> None:
    text = (project / slip["file"]).read_text("utf-8")
    assert changed(slip, text) != text


@pytest.fixture(scope="module")
def copy(project: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the project, into which slips are put one by one."""
    folder = tmp_path_factory.mktemp("slips")
    for name in ("framework", "plugins", "tests", "docs"):
        shutil.copytree(project / name, folder / name)
    for name in ("pyproject.toml", "README.md", "tox.ini"):
        shutil.copy(project / name, folder)
    return folder


@pytest.mark.skipif("PLAUSIBLY_SLIPS" not in os.environ, reason="takes an hour")
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("slip", SLIPS, ids=lambda slip: slip["old"][:40])
def test_a_slip_is_noticed(slip: dict[str, str], copy: Path) -> None:
    path = copy / slip["file"]
    text = path.read_text("utf-8")
    path.write_text(changed(slip, text), "utf-8")
    paths = os.pathsep.join(str(copy / name) for name in ("framework", "plugins"))
    try:
        for folder in NOTICED_BY[slip["file"].rpartition("/")[0]]:
            command = [sys.executable, "-m", "pytest", "-q", "-x", "-m", "not slow"]
            ran = subprocess.run(
                [*command, f"tests/{folder}"],
                cwd=copy,
                env={**os.environ, "PYTHONPATH": paths},
                capture_output=True,
                check=False,
            )
            if ran.returncode == 1:
                return
            assert ran.returncode == 0
    finally:
        path.write_text(text, "utf-8")
    pytest.fail("no test noticed")
