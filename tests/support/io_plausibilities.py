"""Plausibilities and draws with names, totals, coordinates and attributes that trip up files."""

from __future__ import annotations

import numpy as np
import xarray as xr
from hypothesis import strategies as st

from io_annotation_tables import names
from plausibly.data.names import is_blank

OWN = st.sampled_from(
    ["example", "denominator", "label", "draw", "plausibility", "about", "plausibilities", "0"]
)
EXACT = (
    (".parquet", "wide"),
    (".npz", "wide"),
    (".nc", "wide"),
    (".csv", "long"),
    (".parquet", "long"),
)
"""Endings and forms that keep everything."""


@st.composite
def plausibilities(
    draw: st.DrawFn, *, draws: bool | None = None, plain: bool = False
) -> xr.DataArray:
    """Counts over totals, or no counts; `plain` without what a wide CSV has no place for."""
    labels = draw(st.lists(names | OWN, min_size=1, max_size=4, unique=True))
    # In a wide CSV an example whose name is blank has none, and its row is refused.
    seen = (names | OWN).filter(lambda name: not (plain and is_blank(name)))
    examples = draw(st.lists(seen, min_size=1, max_size=4, unique=True))
    several = draw(st.booleans()) if draws is None else draws
    shape = (*([draw(st.integers(1, 3))] if several else []), len(examples), len(labels))
    count = int(np.prod(shape))
    most = st.integers(0, 5 if several else 10**6)
    votes = np.array(draw(st.lists(most, min_size=count, max_size=count)))
    votes = votes.reshape(shape)
    votes[..., draw(st.integers(0, len(labels) - 1))] += 1
    totals = votes.sum(axis=-1)
    dtype = np.float64 if plain else draw(st.sampled_from([np.float64, np.float32]))
    coords: dict[str, object] = {"example": examples, "label": labels}
    if several:
        coords["draw"] = np.arange(1, shape[0] + 1)
    if several and not plain:
        coords["draw"] = draw(
            st.sampled_from(
                [
                    coords["draw"],
                    [f"{x}" for x in range(shape[0])],
                    [f"{x}.50" for x in range(shape[0])],
                ]
            )
        )
    common = totals if not several else np.lcm.reduce(totals, axis=0)
    if draw(st.booleans()):
        coords["denominator"] = ("example", common)
    if not plain and draw(st.booleans()):
        coords["risk"] = ("label", np.linspace(0, 1, len(labels)))
        coords["site"] = ("example", ["é " * (row + 1) for row in range(len(examples))])
        coords["alpha"] = 0.1
    attributes: list[dict[str, object]] = [
        {},
        {"joint": "dawid-skene", "convergence": '{"steps": 3}'},
        {"n": np.int16(3)},
    ]
    attrs: dict[str, object] = {} if plain else draw(st.sampled_from(attributes))
    return xr.DataArray(
        (votes / totals[..., None]).astype(dtype),
        dims=("draw", "example", "label")[-len(shape) :],
        coords=coords,
        name="plausibilities",
        attrs=attrs,
    )


def same(result: xr.DataArray, wanted: xr.DataArray) -> None:
    """Compare arrays in bits: values, types, coordinates and attributes."""
    xr.testing.assert_identical(result, wanted)
    assert result.dtype == wanted.dtype
    assert result.values.tobytes() == wanted.values.tobytes()
    for name, item in wanted.coords.items():
        assert result[name].dtype == item.dtype, name
        assert result[name].values.tobytes() == item.values.tobytes(), name
    assert {k: type(v) for k, v in result.attrs.items()} == {
        k: type(v) for k, v in wanted.attrs.items()
    }
