"""The kit asks nothing of those who do not use it: no pytest, no hypothesis, no entry point."""

from __future__ import annotations

import subprocess
import sys

import pytest

from plausibly.errors import MissingExtra


def test_importing_the_kit_imports_neither_pytest_nor_hypothesis() -> None:
    code = (
        "import sys, plausibly.testing, plausibly.testing.strategies;"
        "assert not {'pytest', '_pytest', 'hypothesis'} & sys.modules.keys()"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_extra_is_named_where_hypothesis_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    from plausibly.testing import strategies

    monkeypatch.setitem(sys.modules, "hypothesis.strategies", None)
    monkeypatch.setitem(sys.modules, "hypothesis", None)
    with pytest.raises(MissingExtra, match=r'pip install "plausibly\[testing\]"'):
        strategies.predictions()
