"""Files read as they did: each to its table, or refused with its message.

``cases/<format>/<behaviour>.toml`` holds files, how each is read, and what comes of it:

- ``[[file]]`` is one file: its ``name`` and ``text``; or ``files`` (a folder, or a zip), ``array``,
  ``arrays``, ``columns`` (Parquet); ``encoding``, and ``cut``, bytes that are missing at the end.
- ``[[file.read]]`` is one call: ``reader``, ``declared`` labels and ``options``; with ``replace``
  the file has other words in place of some.
- What comes of it is ``refused`` with every field of the message, or ``table``, one row per label
  of each response, with ``kind``, ``labels`` and what else does not go without saying:
  the reader that ``recognised`` the file, ``examples`` and ``annotators`` without response, what is
  ``not_counted``, ``values`` of predictions. Every message that is ``warned`` is there.
"""

from __future__ import annotations

from hashlib import blake2b
from pathlib import Path

import pytest

import cases_net
import nets
from plausibly.data.states import STATES
from plausibly.registry import Registry

CASES = Path(__file__).parent / "cases"


@pytest.mark.parametrize("path", sorted(CASES.rglob("*.toml")), ids=lambda path: path.stem)
def test_a_file_reads_as_it_did(path: Path, tmp_path: Path) -> None:
    reads = 0
    for file in cases_net.load(path):
        for case in file["read"]:
            folder = tmp_path / f"{reads}"
            folder.mkdir()
            found = cases_net.answer(cases_net.write(folder, cases_net.changed(file, case)), case)
            assert found == cases_net.expected(case)
            reads += 1
    assert reads


def test_every_reader_that_comes_with_plausibly_has_cases() -> None:
    entries = Registry(others=tuple).entries()
    readers = {one.name for one in entries if one.kind == "reader"}
    # What plausibly writes itself is read back in tests/io.
    assert readers - {path.name for path in CASES.iterdir()} == {"annotation-table"}


def digest(path: Path) -> str:
    """Return the refusal of a file, or its kind and a digest of its long table."""
    found = cases_net.answer(path, {})
    if "refused" in found:
        return f"refused {found['refused']['name']}"
    # In the digests a state is its code.
    rows = [[*row[:-1], row[-1] and str(STATES.index(row[-1]))] for row in found["table"]]
    if not rows:
        return str(found["kind"])
    warned = sorted({one["name"] for one in found["warned"]})
    kept = repr((rows, [found["labels"], found["examples"], warned]))
    return f"{found['kind']} {blake2b(kept.encode(), digest_size=12).hexdigest()}"


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
