"""Plugins as users install them: distributions on the path of a fresh interpreter."""

from __future__ import annotations

import importlib.metadata as metadata
import os
import subprocess
import sys
from pathlib import Path

import pytest

from plausibly.registry import Failure, discovery
from registry_components import write_distribution

GOOD = """
from typing import ClassVar

import attrs

from plausibly.plugin import AGGREGATOR, Registrar, hookimpl


@attrs.frozen(kw_only=True)
class PlackettLuce:
    accepts: ClassVar[frozenset[str]] = frozenset({"partial-ranking"})
    rounds: int = 10

    def aggregate(self, annotations, keys):
        raise NotImplementedError


@hookimpl
def tell_plausibly(registrar: Registrar) -> None:
    registrar.add(AGGREGATOR, "ranked-choice", "thesis_pl:PlackettLuce", summary="from ranks")
"""


def python(*words: str, path: Path) -> str:
    """Return what a fresh interpreter prints, with `path` first on its path."""
    done = subprocess.run(
        [sys.executable, "-W", "error", *words],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env={**os.environ, "PYTHONPATH": str(path), "COLUMNS": "200", "PYTHONUTF8": "1"},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with one plugin that works."""
    folder = tmp_path_factory.mktemp("good")
    write_distribution(
        folder, "thesis-pl", plugins={"thesis": "thesis_pl"}, modules={"thesis_pl": GOOD}
    )
    return folder


def test_found_and_used(good: Path) -> None:
    code = """
from plausibly import registry
from plausibly.plugin import AGGREGATOR
made = registry.resolve(AGGREGATOR, "ranked-choice", {"rounds": 3})
assert made.rounds == 3
assert registry.resolve(AGGREGATOR, "thesis:ranked-choice", {"rounds": 3}) == made
print(registry.default().describe(AGGREGATOR, made))
"""
    assert python("-c", code, path=good) == "{'name': 'thesis:ranked-choice', 'rounds': 3}\n"


BROKEN = {
    "pairs": "import no_such_module_xyz\n",
    "quits": "import sys\nsys.exit(3)\n",
    "scores": "",
    "half": "from plausibly.plugin import COMBINER, hookimpl\n\n\n@hookimpl\n"
    "def register(registrar):\n"
    '    registrar.add(COMBINER, "half-combiner", "half:Combiner")\n'
    '    raise KeyError("licence")\n',
}


@pytest.fixture
def wild(tmp_path: Path) -> Path:
    """An environment with a plugin that works, broken ones, and metadata that cannot be read."""
    for plugin, text in {"thesis": GOOD, **BROKEN}.items():
        module = f"{plugin}_pl"
        modules = {module: text}
        write_distribution(tmp_path, f"{plugin}-pl", plugins={plugin: module}, modules=modules)
    info = tmp_path / "malformed-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: malformed\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[plausibly]\nthis line is no entry point\n")
    return tmp_path


def test_the_list_shows_each_state_and_imports_nothing_heavy(wild: Path) -> None:
    code = """
import sys
from plausibly.cli.app import main
sys.argv = ["plausibly", "plugins", "list"]
main()
print("loaded", sorted({"numpy", "xarray", "pandas", "scipy", "rich"} & set(sys.modules)))
assert "plausibly_builtins.scores.simple" not in sys.modules
"""
    *lines, count, loaded = python("-c", code, path=wild).splitlines()
    assert {" ".join(line.split()) for line in lines} >= {
        "ranked-choice from ranks (thesis-pl 0.1)",
        "pairs (pairs-pl 0.1, failed at import)",
        "quits (quits-pl 0.1, failed at import)",
        "scores (scores-pl 0.1, failed at name)",
        "half-combiner (half-pl 0.1, failed at registration)",
        "malformed (malformed, failed at metadata)",
    }
    assert any(
        line.endswith("import  pairs (pairs-pl 0.1): No module named 'no_such_module_xyz'")
        for line in lines
    )
    assert count.endswith(" 5 failed:  plausibly plugins check")
    assert loaded == "loaded []"


def test_work_goes_on_and_each_failure_is_reported_once(wild: Path) -> None:
    code = """
import sys
import warnings
from plausibly import registry
scanned = False
from plausibly.errors import ComponentError, PlausiblyWarning
from plausibly.plugin import AGGREGATOR, COMBINER
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    for _ in range(2):
        registry.resolve(COMBINER, "average")
        registry.resolve(COMBINER, "combiners:average")
        assert scanned or "quits_pl" not in sys.modules  # built-ins need no scan
        registry.resolve(AGGREGATOR, "ranked-choice")
        scanned = True
    try:
        registry.resolve(COMBINER, "half-combiner")
    except ComponentError as error:
        print(error.what)
assert all(isinstance(w.message, PlausiblyWarning) for w in caught)
print(*sorted(w.message.source for w in caught))
"""
    assert python("-c", code, path=wild).splitlines() == [
        'no combiner "half-combiner": half (half-pl 0.1) failed at registration',
        "half malformed pairs quits scores",
    ]


def test_one_installed_twice_is_one(good: Path, tmp_path: Path) -> None:
    again = tmp_path / "again"
    again.symlink_to(good, target_is_directory=True)
    newer = tmp_path / "newer"
    write_distribution(
        newer, "Thesis.PL", plugins={"thesis": "thesis_pl"}, modules={}, version="0.0.9"
    )
    python(
        "-c",
        f"import sys; sys.path += [{str(again)!r}, {str(newer)!r}]\n"
        "from plausibly.registry import default\n"
        "assert default().failures() == ()\n"
        "assert [s.where for s in default().plugins()][-1] == 'thesis-pl 0.1'\n"
        "assert len([e for e in default().entries() if e.name == 'ranked-choice']) == 1\n",
        path=good,
    )


def test_our_distribution_may_be_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(discovery, "OURS", "no-such-distribution-xyz")
    assert discovery.own_plugins() == ()


def test_a_distribution_that_cannot_even_say_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    class Nameless(metadata.Distribution):
        def read_text(self, filename: str) -> str | None:
            raise OSError("disk error")

        def locate_file(self, path: str | os.PathLike[str]) -> Path:
            return Path(path)

    monkeypatch.setattr(metadata, "distributions", lambda: iter([Nameless()]))
    (failure,) = discovery.other_plugins()
    assert isinstance(failure, Failure)
    assert str(failure.source) == "distribution 0 on the path (distribution 0 on the path)"
    assert failure.reason == "OSError: disk error"
