"""New plugins, installed as their authors would, into an environment beside this one."""

from __future__ import annotations

import os
import re
import site
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Mapping
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


def files_of(page: str) -> dict[str, str]:
    """Return the files that a page shows, by the path that it gives them."""
    return dict(_CUT.findall(page))


@attrs.frozen
class Environment:
    """A virtual environment with plausibly, from its wheel, and the new plugins."""

    folder: Path
    plugins: Path

    def program(self, name: str) -> Path:
        scripts = sysconfig.get_path("scripts", "venv", {"base": str(self.folder)})
        return Path(scripts) / name

    def run(self, *words: str | Path, cwd: Path, code: int | None = 0) -> Ran:
        # What runs in this environment is another installation, and is not measured.
        unset = ("PYTHONPATH", "MYPYPATH", "PYTHONSAFEPATH", "PYTHONHOME", "COVERAGE")
        done = subprocess.run(
            [str(word) for word in words],
            cwd=cwd,
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=False,
            timeout=600,
            env={
                **{name: text for name, text in os.environ.items() if not name.startswith(unset)},
                "COLUMNS": "80",
                "NO_COLOR": "1",
                "PYTHONUTF8": "1",
            },
        )
        assert code is None or done.returncode == code, done.stdout + done.stderr
        return Ran(done.returncode, done.stdout, done.stderr)

    def python(self, *words: str | Path, cwd: Path, code: int | None = 0) -> Ran:
        return self.run(self.program("python"), *words, cwd=cwd, code=code)

    def plausibly(self, *words: str | Path, cwd: Path, code: int | None = 0) -> Ran:
        return self.run(self.program("plausibly"), *words, cwd=cwd, code=code)

    def mypy(self, *words: str | Path, cwd: Path, code: int | None = 0) -> Ran:
        """Run mypy as one who has nothing but this environment."""
        python = self.program("python")
        cache = ("--cache-dir", self.folder / "mypy")  # for one run after the other
        options = ("--python-executable", python, *cache, "--no-error-summary")
        return self.run(sys.executable, "-m", "mypy", *options, *words, cwd=cwd, code=code)


def write_plugins(folder: Path) -> list[Path]:
    """Write a new plugin of each kind, and the one to which the page on formats adds a reader."""
    for name, kind in NEW.items():
        plugins_new.write(name, kind, folder / name)
    plugins_new.write(FORMAT, "annotation", folder / FORMAT)
    page = cut_docs.page("format.md")
    for path, text in files_of(page).items():
        if path.endswith(".py"):
            (folder / FORMAT / path).write_text(text, encoding="utf-8")
    return [folder / name for name in (*NEW, FORMAT)]


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """The environment, made once for all test files."""
    folder = tmp_path_factory.mktemp("new-plugins")
    venv.EnvBuilder(symlinks=os.name != "nt").create(folder / "venv")
    environment = Environment(folder / "venv", folder / "plugins")
    purelib = sysconfig.get_path("purelib", "venv", {"base": str(environment.folder)})
    # What plausibly and its author's kit need is taken from the environment of the tests.
    beside = dict.fromkeys((*site.getsitepackages(), sysconfig.get_path("purelib")))
    lines = "".join(f"import site; site.addsitedir({path!r})\n" for path in beside)
    Path(purelib, "beside.pth").write_text(lines, encoding="utf-8")
    environment.plugins.mkdir()
    wheels = folder / "wheels"
    code = f"from hatchling.build import build_wheel; build_wheel({str(wheels)!r})"
    wheels.mkdir()
    environment.run(sys.executable, "-c", code, cwd=PROJECT)
    (wheel,) = wheels.glob("*.whl")
    install = ("pip", "--disable-pip-version-check", "--python", environment.program("python"))
    options = ("--no-index", "--no-deps", "--no-build-isolation", "--no-cache-dir", "--quiet")
    environment.run(
        # The wheel goes in even where pip sees the one that the tests themselves run against.
        *(sys.executable, "-m", *install, "install", "--ignore-installed", *options),
        *(wheel, *write_plugins(environment.plugins)),
        cwd=folder,
    )
    return environment
