"""Agreement as plain data, as ``plausibly agreement --json`` prints it."""

from __future__ import annotations

from collections.abc import Sequence

import xarray as xr

from plausibly.data import names
from plausibly.data.left_out import read_left_out


def agreement_as_json(found: xr.Dataset) -> dict[str, object]:
    """Return agreement as plain data.

    Parameters
    ----------
    found : Dataset
        From `plausibly.agreement`.
    """
    facts = {str(name): value for name, value in found.attrs.items() if name != names.LEFT_OUT}
    data: dict[str, object] = {
        **facts,
        "left_out": read_left_out(found.attrs),
        "measures": _table(found, "measure", ("value", "low", "high", "reason"), ""),
    }
    for dim, prefix in ((names.LABEL, "label_"), (names.ANNOTATOR, "annotator_")):
        columns = [str(name) for name in found if str(name).startswith(prefix)]
        data[f"by_{dim}"] = _table(found, dim, columns, prefix)
    if "group" in found.dims:
        data["by_group"] = [
            {
                "group": group,
                "examples": int(found["group_examples"].values[place]),
                "measures": _table(
                    found.isel(group=place),
                    "measure",
                    ("group_value", "group_low", "group_high", "group_reason"),
                    "group_",
                ),
            }
            for place, group in enumerate(found["group"].values.tolist())
        ]
    return data


def _table(
    found: xr.Dataset, dim: str, columns: Sequence[str], prefix: str
) -> list[dict[str, object]]:
    """Return one dict for each name along a dim."""
    values = {name.removeprefix(prefix): found[name].values.tolist() for name in columns}
    return [
        {dim: str(name), **{title: column[place] for title, column in values.items()}}
        for place, name in enumerate(found[dim].values)
    ]
