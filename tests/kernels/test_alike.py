"""Texts are told to be the same exactly where they are."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plausibly.kernels import alike as kernel
from plausibly.kernels.alike import alike
from plausibly.kernels.types import Ints

TEXTS = st.lists(
    st.sampled_from([b"", b"a", b"12345678", b"123456789", b"x" * 40, b"x" * 40 + b"y", b"\0"])
    | st.binary(max_size=20),
    min_size=1,
    max_size=30,
)


@pytest.mark.parametrize("block", [1, 4, 1 << 14])
@given(texts=TEXTS)
def test_codes_are_the_same_where_texts_are(block: int, texts: list[bytes]) -> None:
    data = np.frombuffer(b",".join(texts), np.uint8)
    sizes = np.array([len(text) for text in texts], np.int32)
    starts: Ints = np.cumsum(sizes) - sizes + np.arange(sizes.size)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernel, "_BLOCK", block)
        patch.setattr(kernel, "_WORTH", 2)
        found = alike(data, starts, sizes)
    if found is None:
        assert data.size < 8
        return
    codes, some = found
    assert [texts[some[code]] for code in codes] == texts
    assert len(some) == len({*texts})


def test_texts_that_look_alike_and_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [b"first of them", b"second of all"]
    data = np.frombuffer(b"".join(texts), np.uint8)
    starts, sizes = np.array([0, 13]), np.array([13, 13])
    assert alike(data, starts, sizes) is not None
    monkeypatch.setattr(kernel, "_marks", lambda _, at, left: np.zeros(left.size, np.uint64))
    assert alike(data, starts, sizes) is None
    monkeypatch.setattr(kernel, "_KEPT", 1)
    assert alike(data, starts, sizes) is None


def test_too_long_to_keep(monkeypatch: pytest.MonkeyPatch) -> None:
    data = np.frombuffer(b"a" * 40, np.uint8)
    given_ = data, np.array([0, 20]), np.array([20, 20])
    assert alike(*given_) is not None
    monkeypatch.setattr(kernel, "_KEPT", 2)
    assert alike(*given_) is None
