"""Distributions on the path of a fresh interpreter, of which most have a fault."""

from __future__ import annotations

import importlib.metadata as metadata
import os
import subprocess
import sys
from pathlib import Path

import pytest

from plausibly.registry import registry
from plausibly.registry.entries import VARIABLE

GOOD = """
from plausibly.plugin import AGGREGATOR, Registrar, hookimpl

@hookimpl
def tell_plausibly(registrar: Registrar) -> None:
    name = "registry_components:Smoothed"
    registrar.add(AGGREGATOR, "ranked-choice", name, summary="from ranks")
"""
BROKEN = {
    "pairs": "import no_such_module_xyz\n",
    "quits": "import sys\nsys.exit(3)\n",
    "scores": "\n",
    "half": "from plausibly.plugin import COMBINER, hookimpl\n\n\n@hookimpl\n"
    "def register(registrar):\n"
    '    registrar.add(COMBINER, "half-combiner", "half:Combiner")\n'
    '    raise KeyError("licence")\n',
}


def write_distribution(
    folder: Path, name: str, plugin: str, text: str = "", version: str = "0.1"
) -> None:
    """Write an installed distribution: its metadata, its entry point, and its module, if any."""
    info = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir(parents=True)
    head = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    (info / "METADATA").write_text(head, encoding="utf-8")
    (info / "entry_points.txt").write_text(f"[plausibly]\n{plugin} = {plugin}_pl\n", "utf-8")
    if text:
        (folder / f"{plugin}_pl.py").write_text(text, encoding="utf-8")


def python(code: str, path: Path) -> str:
    """Return what a fresh interpreter prints, with `path` first on its path."""
    support = Path(__file__).parents[1] / "support"
    before = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    places = os.pathsep.join(filter(None, [str(path), str(support), *before]))
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env={**os.environ, "PYTHONPATH": places, "COLUMNS": "200", "PYTHONUTF8": "1"},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def environment(tmp_path: Path) -> Path:
    """An environment with a plugin that works, broken ones, and metadata that cannot be read."""
    for plugin, text in {"thesis": GOOD, **BROKEN}.items():
        write_distribution(tmp_path, f"{plugin}-pl", plugin, text)
    info = tmp_path / "malformed-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: malformed\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[plausibly]\nthis line is no entry point\n")
    return tmp_path


def test_work_goes_on_and_each_failure_causes_one_warning(environment: Path) -> None:
    code = """
import sys
import warnings
from plausibly import registry
scanned = False
from plausibly.errors import PlausiblyWarning
from plausibly.plugin import AGGREGATOR, COMBINER
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    for _ in range(2):
        registry.resolve(COMBINER, "average")
        registry.resolve(COMBINER, "combiners:average")
        assert scanned or "quits_pl" not in sys.modules  # built-ins need no scan
        made = registry.resolve(AGGREGATOR, "ranked-choice", {"rounds": 3})
        scanned = True
assert all(isinstance(w.message, PlausiblyWarning) for w in caught)
print(*sorted(w.message.source for w in caught))
print(registry.default().describe(AGGREGATOR, made)["name"])
for failure in registry.default().failures():
    if failure.stage == "metadata":
        assert failure.hint.startswith("pip install --force-reinstall malformed, or ")
    reason = "any" if failure.stage == "metadata" else failure.reason
    print(f"{failure.source} failed at {failure.stage}: {reason}")
"""
    sources, name, *failures = python(code, environment).splitlines()
    assert sources == "half malformed pairs quits scores"
    assert name == "thesis:ranked-choice"
    assert sorted(failures) == [
        "half (half-pl 0.1) failed at registration: KeyError: 'licence'",
        "malformed (malformed) failed at metadata: any",
        "pairs (pairs-pl 0.1) failed at import: No module named 'no_such_module_xyz'",
        "quits (quits-pl 0.1) failed at import: SystemExit: 3",
        "scores (scores-pl 0.1) failed at name: scores is a name of plausibly's own",
    ]


def test_a_distribution_that_is_installed_twice_counts_once(tmp_path: Path) -> None:
    good, again, newer = (tmp_path / name for name in ("good", "again", "newer"))
    write_distribution(good, "thesis-pl", "thesis", GOOD)
    again.symlink_to(good, target_is_directory=True)
    write_distribution(newer, "Thesis.PL", "thesis", version="0.0.9")
    python(
        f"import sys; sys.path += [{str(again)!r}, {str(newer)!r}]\n"
        "from plausibly.registry import default\n"
        "assert default().failures() == ()\n"
        "assert [s.where for s in default().plugins()][-1] == 'thesis-pl 0.1'\n"
        "assert len([e for e in default().entries() if e.name == 'ranked-choice']) == 1\n",
        good,
    )


def test_metadata_may_be_missing_or_unreadable(monkeypatch: pytest.MonkeyPatch) -> None:
    class Nameless(metadata.Distribution):
        def read_text(self, filename: str) -> str | None:
            raise OSError("disk error")

        def locate_file(self, path: str | os.PathLike[str]) -> Path:
            return Path(path)

    monkeypatch.setattr(metadata, "distributions", lambda: iter([Nameless()]))
    (plugin,) = registry.other_plugins()
    assert str(plugin.source) == "distribution 0 on the path (distribution 0 on the path)"
    assert plugin.reason == "OSError: disk error"
    assert plugin.hint == f'do without: {VARIABLE}="distribution 0 on the path"'
    monkeypatch.setattr(registry, "GROUP", "no-such-distribution-xyz")
    assert not list(registry.own_plugins())
