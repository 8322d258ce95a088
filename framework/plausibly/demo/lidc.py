"""Lung nodules of LIDC-IDRI, rated for malignancy by three or four radiologists each.

The table beside this module was derived from public annotations; its licences, what was done to
it and whom to cite stand in the folder ``data``.
"""

from __future__ import annotations

import csv
from importlib.resources import files

import attrs
import numpy as np
import xarray as xr

from plausibly import registry
from plausibly.data import names
from plausibly.data.names import text_array
from plausibly.protocols import ANNOTATION, Record

FEATURE = "feature"
PATIENT = "patient"

LABELS = ("1", "2", "3", "4", "5")
"""Malignancy, from 1 (highly unlikely) to 5 (highly suspicious)."""


@attrs.frozen(kw_only=True, eq=False)
class Nodules:
    """The ratings, and what a model may know of each nodule.

    Attributes
    ----------
    annotations : Dataset
        Annotation table of kind ``"single-label"``: one response a rating. Radiologists are not
        told apart in the source, so the annotator of a response is unknown.
    features : DataArray, (example, feature)
        Five measures of the drawn contours (sizes as natural logarithms of mm, mm2 and mm3), then
        eight other ratings; means over the radiologists of a nodule. The coordinate ``patient``
        says whose nodule it is: several may be one patient's.
    """

    annotations: xr.Dataset
    features: xr.DataArray


def load_nodules() -> Nodules:
    """Return the 1,378 nodules of 689 patients that plausibly ships.

    References
    ----------
    Armato et al., *The Lung Image Database Consortium (LIDC) and Image Database Resource Initiative
    (IDRI)*, Medical Physics 38 (2011), 915-931.
    """
    text = files("plausibly.demo").joinpath("data", "lidc_nodules.csv").read_text("utf-8")
    (_, _, _, *measured), *rows = csv.reader(text.splitlines())
    records: list[Record] = [
        (nodule, None, answer) for nodule, _, said, *_ in rows for answer in said.split(";")
    ]
    features = xr.DataArray(
        np.array([values for _, _, _, *values in rows], dtype=np.float64),
        dims=(names.EXAMPLE, FEATURE),
        coords={
            names.EXAMPLE: text_array([nodule for nodule, *_ in rows]),
            FEATURE: text_array(measured),
            PATIENT: (names.EXAMPLE, text_array([patient for _, patient, *_ in rows])),
        },
        name="features",
    )
    annotations = registry.resolve(ANNOTATION, "single-label").build(records, LABELS)
    return Nodules(annotations=annotations, features=features)
