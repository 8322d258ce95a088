"""Small files, and what is said about them."""

from __future__ import annotations

import csv
import io
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import pytest
from hypothesis import strategies as st

from plausibly.errors import InputError

T = TypeVar("T")
BEGINNINGS: dict[str, Any] = tomllib.loads(  # Any: what TOML holds
    (Path(__file__).parents[1] / "io" / "beginnings.toml").read_text("utf-8")
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for the files of a test that is run for many examples."""
    return tmp_path_factory.mktemp("files")


def written(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)
    return path


def csv_text(rows: Sequence[Sequence[object]], delimiter: str = ",", end: str = "\n") -> str:
    """Return rows as RFC 4180 writes them."""
    file = io.StringIO(newline="")
    # The csv module quotes only the line ends that it writes itself.
    bare = any({"\r", "\n"} & set(str(field)) for row in rows for field in row)
    csv.writer(
        file,
        quoting=csv.QUOTE_ALL if bare else csv.QUOTE_MINIMAL,
        delimiter=delimiter,
        lineterminator=end,
    ).writerows(rows)
    return file.getvalue()


def refusal(call: Callable[[], object]) -> InputError:
    with pytest.raises(InputError) as caught:
        call()
    return caught.value


def result_or_refusal(call: Callable[[], T], source: str) -> T | None:
    """Return what a call returns, or None where it refuses and its first line says whose."""
    try:
        return call()
    except InputError as error:
        if source not in error.what:
            raise AssertionError(f"no file is named: {error}") from error
        return None


def damaged(data: st.DataObject, path: Path) -> Path:
    """Return a copy of a file, perhaps cut, with up to three other bytes in it."""
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(0, 3))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    end = data.draw(st.integers(0, len(content)) | st.just(len(content)))
    return written(path.parent, f"damaged{path.suffix}", bytes(content[:end]))
