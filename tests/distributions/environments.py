"""Real distributions, built and installed offline into fresh environments."""

from __future__ import annotations

import contextlib
import importlib.metadata as metadata
import os
import re
import subprocess
import sys
import sysconfig
import tomllib
from collections.abc import Iterable
from pathlib import Path

import attrs

from cli_world import Ran

PROJECT = Path(__file__).resolve().parents[2]
SOURCES = PROJECT / "tests" / "distributions" / "sources"

_BUILD = """
import os, sys
from hatchling.build import build_wheel
out, *folders = sys.argv[1:]
for folder in folders:
    os.chdir(folder)
    build_wheel(out)
"""


def build(out: Path, *folders: Path) -> list[Path]:
    before = set(out.glob("*.whl"))
    _run([sys.executable, "-c", _BUILD, out, *folders], folder=PROJECT)
    made = sorted(set(out.glob("*.whl")) - before)
    assert len(made) == len(folders), "a wheel for each folder"
    return made


def needed() -> set[str]:
    """Return the names of all that plausibly needs, and of what that needs."""
    with (PROJECT / "pyproject.toml").open("rb") as file:
        left = list(tomllib.load(file)["project"]["dependencies"])
    result: set[str] = set()
    while left:
        line = left.pop()
        name = re.split(r"[^A-Za-z0-9._-]", line)[0].lower()
        if name in result or "extra ==" in line:
            continue
        with contextlib.suppress(metadata.PackageNotFoundError):  # for another platform or Python
            left += metadata.requires(name) or ()
            result.add(name)
    return result


@attrs.frozen
class Environment:
    """A virtual environment of its own: what plausibly needs, and what was installed."""

    folder: Path

    @classmethod
    def made(cls, folder: Path) -> Environment:
        """Make one; its libraries are those of the environment that runs the tests."""
        _run([sys.executable, "-m", "venv", folder], folder=PROJECT)
        made = cls(folder)
        for name in needed():
            distribution = metadata.distribution(name)
            tops = {Path(str(file)).parts[0] for file in distribution.files or ()} - {".."}
            for top in sorted(tops - {"__pycache__"}):
                place, link = Path(str(distribution.locate_file(top))), made.site / top
                if not link.exists():
                    link.symlink_to(place)
        return made

    @property
    def site(self) -> Path:
        return Path(sysconfig.get_path("purelib", "venv", vars=self._bases))

    @property
    def python(self) -> Path:
        scripts = Path(sysconfig.get_path("scripts", "venv", vars=self._bases))
        return scripts / Path(sys.executable).name

    @property
    def _bases(self) -> dict[str, str]:
        return {"base": str(self.folder), "platbase": str(self.folder)}

    def install(self, wheels: Path, *words: str | Path) -> None:
        offline = ["--no-index", "--disable-pip-version-check", "--quiet", "--find-links"]
        done = self.run("-m", "pip", "install", *offline, wheels, *words)
        assert done.code == 0, done.err

    def run(self, *words: str | Path, folder: Path | None = None) -> Ran:
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("PLAUSIBLY", "PYTHON"))}
        environment = {**kept, "COLUMNS": "200", "PYTHONUTF8": "1"}
        return _run(
            [self.python, *words],
            folder=folder or self.folder,
            environment=environment,
            check=False,
        )

    def plausibly(self, *words: str | Path, folder: Path | None = None) -> Ran:
        """Run the command, warnings of Python being errors."""
        return self.run("-W", "error", "-m", "plausibly", *words, folder=folder)


def _run(
    words: Iterable[str | Path],
    *,
    folder: Path,
    environment: dict[str, str] | None = None,
    check: bool = True,
) -> Ran:
    done = subprocess.run(
        [str(word) for word in words],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0 or not check, done.stderr
    return Ran(done.returncode, done.stdout, done.stderr)
