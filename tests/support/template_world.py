"""Environments beside this one, into which plausibly and plugins are installed from wheels."""

from __future__ import annotations

import os
import re
import site
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import attrs
import pytest

import cut_docs
from cli_world import Ran
from cut_docs import NEW
from plausibly.cli import plugins_new

PROJECT = Path(__file__).resolve().parents[2]

NAMES: Mapping[str, str] = {kind: name for name, kind in NEW.items()}
"""The name of the new plugin of each kind, as the pages for authors call it."""

FORMAT = "versus"
"""The new plugin of the page on formats: an annotation kind, to which the page adds a reader."""

_CUT = re.compile(r"<!-- file: (\S+) -->\n\n```\w*\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def run(*words: str | Path, cwd: Path, code: int | None = 0) -> Ran:
    """Run a program that sees no setting of these tests; `code` None allows any."""
    # What runs in another environment is another installation, and is not measured.
    unset = ("PYTHON", "MYPYPATH", "COVERAGE", "PLAUSIBLY")
    kept = {name: text for name, text in os.environ.items() if not name.startswith(unset)}
    done = subprocess.run(
        [str(word) for word in words],
        cwd=cwd,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        timeout=600,
        env={**kept, "COLUMNS": "80", "NO_COLOR": "1", "PYTHONUTF8": "1"},
    )
    assert code is None or done.returncode == code, done.stdout + done.stderr
    return Ran(done.returncode, done.stdout, done.stderr)


def build(wheels: Path, *folders: Path) -> None:
    """Build a wheel of the distribution in each folder, as pip would."""
    wheels.mkdir()
    code = f"from hatchling.build import build_wheel; build_wheel({str(wheels)!r})"
    for folder in folders:
        run(sys.executable, "-c", code, cwd=folder)


@attrs.frozen
class Environment:
    """A virtual environment, and in it a folder for plugins that are written there."""

    folder: Path

    @property
    def plugins(self) -> Path:
        return self.folder / "plugins"

    @classmethod
    def made(cls, folder: Path) -> Environment:
        """Make an environment without any distribution, not even pip."""
        venv.EnvBuilder(symlinks=os.name != "nt").create(folder)
        return cls(folder)

    def place(self, of: str) -> Path:
        """Return the folder of what is installed, such as ``scripts`` or ``purelib``."""
        bases = {"base": str(self.folder), "platbase": str(self.folder)}
        return Path(sysconfig.get_path(of, "venv", bases))

    def install(self, *words: str | Path) -> None:
        """Install by the pip of the tests, without any index."""
        pip = (sys.executable, "-m", "pip", "--disable-pip-version-check")
        options = ("--no-index", "--no-build-isolation", "--no-cache-dir", "--quiet")
        python = ("--python", self.place("scripts") / "python")
        run(*pip, *python, "install", *options, *words, cwd=self.folder)

    def python(self, *words: str | Path, cwd: Path, code: int | None = 0) -> Ran:
        return run(self.place("scripts") / "python", *words, cwd=cwd, code=code)

    def plausibly(self, *words: str | Path, cwd: Path, code: int | None = 0) -> Ran:
        return run(self.place("scripts") / "plausibly", *words, cwd=cwd, code=code)

    def mypy(self, *words: str | Path, cwd: Path, code: int | None = 0) -> Ran:
        """Run mypy as one who has nothing but this environment."""
        python = self.place("scripts") / "python"
        cache = ("--cache-dir", self.folder / "mypy")  # for one run after the other
        options = ("--python-executable", python, *cache, "--no-error-summary")
        return run(sys.executable, "-m", "mypy", *options, *words, cwd=cwd, code=code)


def write_plugins(folder: Path) -> list[Path]:
    """Write a new plugin of each kind, and the one to which the page on formats adds a reader."""
    for name, kind in {**NEW, FORMAT: "annotation"}.items():
        plugins_new.write(name, kind, folder / name)
    for path, text in _CUT.findall(cut_docs.page("format.md")):
        if path.endswith(".py"):
            (folder / FORMAT / path).write_text(text, encoding="utf-8")
    return [folder / name for name in (*NEW, FORMAT)]


@cache
def with_plugins(folder: Path) -> Environment:
    """Return an environment with plausibly, from its wheel, and the new plugins."""
    environment = Environment.made(folder)
    # What plausibly and its author's kit need is taken from the environment of the tests.
    beside = dict.fromkeys((*site.getsitepackages(), sysconfig.get_path("purelib")))
    lines = "".join(f"import site; site.addsitedir({path!r})\n" for path in beside)
    (environment.place("purelib") / "beside.pth").write_text(lines, encoding="utf-8")
    build(folder / "wheels", PROJECT)
    environment.plugins.mkdir()
    environment.install(
        # The wheel goes in even where pip sees the one that the tests themselves run against.
        *("--no-deps", "--ignore-installed"),
        *(folder / "wheels").iterdir(),
        *write_plugins(environment.plugins),
    )
    return environment


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """The environment, made once though each test file has the fixture that it imports."""
    return with_plugins(tmp_path_factory.getbasetemp() / "new-plugins")
