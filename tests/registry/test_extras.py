"""Optional dependencies that are, are not, or are broken."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from plausibly.errors import InputError, MissingExtra
from plausibly.plugin import require


def test_what_is_installed() -> None:
    assert require("json", extra="none", source="a test") is json


def test_what_is_not() -> None:
    with pytest.raises(MissingExtra) as caught:
        require("no_such_module_xyz.parquet", extra="parquet", source="cnn.parquet")
    assert str(caught.value) == (
        "error extra-missing: cnn.parquet needs no_such_module_xyz, which is not\n"
        "  installed\n"
        '  expected  the extra "parquet"\n'
        '  hint      pip install "plausibly[parquet]"'
    )
    assert isinstance(caught.value, InputError)
    assert isinstance(caught.value, ImportError)


@pytest.mark.parametrize("module", ["half_installed_xyz", "half_installed_xyz.inner"])
def test_what_is_broken_says_so_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: str
) -> None:
    (tmp_path / "half_installed_xyz.py").write_text("import its_own_dependency_xyz\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "half_installed_xyz", raising=False)
    with pytest.raises(ModuleNotFoundError, match="its_own_dependency_xyz") as caught:
        require(module, extra="parquet", source="cnn.parquet")
    assert not isinstance(caught.value, MissingExtra)
