"""Twenty plugins that register lazily cost nothing until they are used; versions and scans."""

from __future__ import annotations

from pathlib import Path

import pytest

from .environments import Environment

pytestmark = pytest.mark.timeout(900)

CODE = """
import sys
from plausibly.cli.start import main
sys.argv = ["plausibly", *WORDS]
code = main()
tops = {name.partition(".")[0] for name in sys.modules}
print("heavy", sorted(tops & {"numpy", "xarray", "pandas", "scipy", "cattrs", "typer", "rich"}))
print("lazy", len({t for t in tops if t.startswith("lazy_")}), code)
print("parts", sorted(m for m in sys.modules if m.endswith(".parts")))
print("ours", "plausibly_builtins" in tops)
"""


def told(good: Environment, many: Path, *words: str) -> tuple[list[str], list[str]]:
    """Return what a command printed, and which modules it loaded."""
    code = CODE.replace("WORDS", repr(list(words)))
    ran = good.run("-W", "error", "-c", code, path=[many])
    assert ran.code == 0, ran.err
    lines = ran.out.splitlines()
    return lines[:-4], lines[-4:]


def test_listed_without_loading_what_is_heavy(good: Environment, many: Path) -> None:
    printed, loaded = told(good, many, "plugins", "list")
    assert len([line for line in printed if " lazy-" in line]) == 40
    assert printed[-1].endswith(" components of 34 plugins, none failed")
    assert loaded == ["heavy ['typer']", "lazy 20 0", "parts []", "ours True"]


def test_help_and_built_ins_scan_nothing(good: Environment, many: Path) -> None:
    _, loaded = told(good, many, "--help")
    assert loaded == ["heavy ['typer']", "lazy 0 0", "parts []", "ours False"]
    code = """
import sys
from plausibly import registry
from plausibly.plugin import SCORE
registry.resolve(SCORE, "probability")
assert not [m for m in sys.modules if m.startswith(("lazy_", "thesis_pl"))]
registry.resolve(SCORE, "lazy-07:same-for-all")
assert "lazy_07.parts" in sys.modules and "lazy_08.parts" not in sys.modules
"""
    ran = good.run("-W", "error", "-c", code, path=[many])
    assert ran.code == 0, ran.err


def test_twenty_offer_one_name(good: Environment, many: Path) -> None:
    code = """
from plausibly import registry
from plausibly.plugin import SCORE
try:
    registry.resolve(SCORE, "same-for-all")
except ValueError as error:
    print(error.what, error.details["plugins"] == [f"lazy-{n:02d}" for n in range(20)])
"""
    ran = good.run("-W", "error", "-c", code, path=[many])
    assert ran.code == 0, ran.err
    assert ran.out == '20 plugins offer the score "same-for-all" True\n'


VERSIONS = """
from plausibly.registry import default
print([str(s) for s in default().plugins() if s.plugin == "thesis"], default().failures())
(entry,) = [e for e in default().entries() if e.name == "ranked-choice"]
print(entry.summary)
"""


def test_two_versions_of_one_are_the_one_that_python_imports(
    good: Environment, older: Path
) -> None:
    first = good.run("-W", "error", "-c", VERSIONS, path=[older])
    assert first.code == 0, first.err
    assert first.out == (
        "['thesis (thesis-pl 0.1)'] ()\nchances of being ranked first, of the first version\n"
    )
    after = f"import sys; sys.path.append({str(older)!r})\n{VERSIONS}"
    second = good.run("-W", "error", "-c", after)
    assert second.code == 0, second.err
    assert second.out == (
        "['thesis (thesis-pl 0.2)'] ()\nchances of being ranked first, fitted to all rankings\n"
    )


def test_installed_while_a_process_runs(good: Environment, many: Path) -> None:
    code = f"""
import sys
from plausibly import registry
before = len(registry.default().plugins())
sys.path.append({str(many)!r})
assert len(registry.default().plugins()) == before
registry.refresh()
assert len(registry.default().plugins()) == before + 20
"""
    ran = good.run("-W", "error", "-c", code)
    assert ran.code == 0, ran.err
