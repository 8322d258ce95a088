"""Every case folder reads as its long table, or is refused by its name.

``cases/<format>/<case>/`` holds a file, `case.toml` (how it is read, and what comes of it) and,
where it is read, `expected.csv`: one row per label of each response.
"""

from __future__ import annotations

import tomllib
from hashlib import blake2b
from pathlib import Path

import pytest

import cases_net
import nets
from plausibly.registry import Registry

CASES = Path(__file__).parent / "cases"


@pytest.mark.parametrize("kind", sorted(path.name for path in CASES.iterdir()))
def test_a_file_reads_as_it_did(kind: str) -> None:
    wrong = {}
    for case in sorted((CASES / kind).iterdir()):
        spec = tomllib.loads((case / "case.toml").read_text(encoding="utf-8"))
        found, wanted = cases_net.read(case, spec), cases_net.expected(case, spec)
        if found != wanted:
            wrong[case.name] = found, wanted
    assert wrong == {}


def test_every_reader_that_comes_with_plausibly_has_cases() -> None:
    entries = Registry(others=tuple).entries()
    readers = {one.name for one in entries if one.kind == "reader"}
    # What plausibly writes itself is read back in tests/io.
    assert readers - {path.name for path in CASES.iterdir()} == {"annotation-table"}


def digest(path: Path) -> str:
    """Return the refusal of a file, or its kind and a digest of its long table."""
    kind, rows, *names = cases_net.read(path.parent, {"file": path.name})
    if not rows:
        return kind
    return f"{kind} {blake2b(repr((rows, names)).encode(), digest_size=12).hexdigest()}"


@pytest.mark.realdata
def test_published_files_read_as_they_did(shared: Path) -> None:
    """Of files that are not ours only digests are kept."""
    folder = shared / "cases" / "annotations"
    found = [
        f"{path.relative_to(folder).as_posix()} {digest(path)}"
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    ]
    assert len(found) > 50
    nets.compare("published_files.txt", found)
