"""Names as bytes: told apart and compared as the texts are, whatever blocks and lengths."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from plausibly.kernels import blocks
from plausibly.kernels.utf8 import Utf8

TEXTS = st.lists(st.text("ab\0é", max_size=20), max_size=9)


def utf8(texts: list[str], before: str = "") -> Utf8:
    cells = [before.encode(), *(text.encode() for text in texts)]
    offsets = np.cumsum([len(cell) for cell in cells])
    return Utf8(np.frombuffer(b"".join(cells), np.uint8), offsets, lambda: texts)


@given(TEXTS, TEXTS, st.text(max_size=5))
def test_what_is_asked_of_bytes(these: list[str], those: list[str], before: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "_CELLS", 8)
        patch.setattr(blocks, "_WORTH", 3)
        patch.setattr(blocks, "cores", lambda: 3)
        here, there = utf8(these, before), utf8(those)
        marks, others = here.marks, there.marks
        assert len(here) == len(these)
        assert here.usable is (len(set(these)) == len(these) and all(map(_fit, these)))
        assert here.same(there) is (these == those)
        assert here.same(utf8(these))
        assert here.apart(there) is (len({*these, *those}) == len(these) + len(those))
    assert marks is not None
    assert others is not None
    assert len(np.unique(marks)) == len(set(these))
    whole = utf8(these).marks
    assert whole is not None
    assert whole.tolist() == marks.tolist()


def _fit(text: str) -> bool:
    return bool(text) and "\0" not in text


def test_names_of_many_words_differ_by_any_byte() -> None:
    base = "case " * 10
    texts = [base[:place] + "#" + base[place + 1 :] for place in range(len(base))]
    texts += [base[:size] for size in range(1, len(base))]
    assert utf8(texts).usable
    assert not utf8([*texts, texts[3]]).usable
    assert utf8(texts).apart(utf8([base]))


def test_of_a_very_long_name_nothing_is_sure() -> None:
    long = utf8(["x" * 513, "y"])
    assert long.marks is None
    assert not long.usable
    assert not long.apart(utf8(["z"]))
    assert utf8(["x" * 512, "y"]).usable


def test_many_marks_are_as_many() -> None:
    marks = utf8([f"{number:x}" for number in range(1 << 17)]).marks
    assert marks is not None
    assert (np.diff(marks.astype(np.float64)) >= 0).all()
    assert len(np.unique(marks)) == 1 << 17
