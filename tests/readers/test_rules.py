"""Every rule of the kit holds for our readers, on the cases that say ``kit``."""

from __future__ import annotations

from pathlib import Path

import pytest

import cases_net
from plausibly.plugin import READER
from plausibly.registry import default
from plausibly.testing import check_reader

CASES = sorted((Path(__file__).parent / "cases").rglob("*.toml"))


@pytest.mark.filterwarnings("ignore::plausibly.PlausiblyWarning")
@pytest.mark.parametrize(
    ("file", "case"),
    [
        pytest.param(file, case, id=path.stem)
        for path in CASES
        for file in cases_net.load(path)
        for case in file["read"]
        if "kit" in case
    ],
)
def test_every_rule_of_the_kit_holds(
    file: cases_net.Spec, case: cases_net.Spec, tmp_path: Path
) -> None:
    path = cases_net.write(tmp_path, cases_net.changed(file, case))
    for more in case["kit"]:
        options = case.get("options", {}) | more
        reader = default().create(READER, case.get("reader", case.get("recognised")), options)
        check_reader(reader, path=path, kind=case["kind"], labels=case.get("declared"))
