"""Small files and what is refused of them; tables with names and numbers that trip up files."""

from __future__ import annotations

import csv
import io
import tomllib
from collections.abc import Callable, Hashable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pytest
import xarray as xr
from hypothesis import strategies as st

from plausibly.data.annotations import AnnotationTable, build_table
from plausibly.data.names import is_blank
from plausibly.errors import InputError

T = TypeVar("T")
BEGINNINGS: dict[str, Any] = tomllib.loads(  # Any: what TOML holds
    (Path(__file__).parents[1] / "io" / "beginnings.toml").read_text("utf-8")
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for the files of a test that is run for many examples."""
    return tmp_path_factory.mktemp("files")


def written(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)
    return path


def csv_text(rows: Sequence[Sequence[object]], delimiter: str = ",", end: str = "\n") -> str:
    """Return rows as RFC 4180 writes them."""
    file = io.StringIO(newline="")
    # The csv module quotes only the line ends that it writes itself.
    bare = any({"\r", "\n"} & set(str(field)) for row in rows for field in row)
    csv.writer(
        file,
        quoting=csv.QUOTE_ALL if bare else csv.QUOTE_MINIMAL,
        delimiter=delimiter,
        lineterminator=end,
    ).writerows(rows)
    return file.getvalue()


def refusal(call: Callable[[], object]) -> InputError:
    with pytest.raises(InputError) as caught:
        call()
    return caught.value


def result_or_refusal(call: Callable[[], T], source: str) -> T | None:
    """Return what a call returns, or None where it refuses and its first line says whose."""
    try:
        return call()
    except InputError as error:
        if source not in error.what:
            raise AssertionError(f"no file is named: {error}") from error
        return None


def damaged(data: st.DataObject, path: Path) -> Path:
    """Return a copy of a file, perhaps cut, with up to three other bytes in it."""
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(0, 3))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    end = data.draw(st.integers(0, len(content)) | st.just(len(content)))
    return written(path.parent, f"damaged{path.suffix}", bytes(content[:end]))


# ---- tables, plausibilities and sets that trip up files


KINDS = ("single-label", "partial-ranking", "label-set", "soft-label", "a plugin's")

# Names as people write them, and worse: line ends, column names of ours, what spreadsheets eat.
names = st.one_of(
    st.text(
        st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=5
    ),
    st.sampled_from(
        ["007", "None", "NA", "nan", " x", "x ", 'say "x"', "a\n", "\r", "a,b", "1/1 {", "😀", "=1"]
    ),
)
numbers = st.floats(allow_nan=False, allow_infinity=False, min_value=0.0)
DTYPES = ("f4", "f8", "f2", "i1", "i8", "u1", "u8", "?", "U3", "M8[ns]", "m8[s]", "O")


def several(items: st.SearchStrategy[T], size: int) -> st.SearchStrategy[list[T]]:
    return st.lists(items, min_size=size, max_size=size)


@st.composite
def variables(draw: st.DrawFn, sizes: dict[str, int]) -> dict[str, xr.Variable]:
    """Further variables of any type over dims of a table, and over one of their own."""
    result: dict[str, xr.Variable] = {}
    for place in range(draw(st.integers(0, 2))):
        dims = tuple(draw(st.lists(st.sampled_from(sorted(sizes)), max_size=2, unique=True)))
        dtype = draw(st.sampled_from(DTYPES))
        shape = tuple(sizes[dim] for dim in dims)
        whole = draw(several(st.integers(0, 120), int(np.prod(shape))))
        if dtype in ("U3", "O"):
            values = np.array([str(item) if item else "" for item in whole], dtype="U3")
            values = values.astype(object) if dtype == "O" else values
        elif dtype in ("i8", "u8"):
            values = (np.array(whole, np.int64) << 55).astype(dtype)
        else:
            values = np.array(whole, np.int64).astype(dtype)
            if values.dtype.kind == "f" and values.size:
                values[0] = draw(st.sampled_from([np.nan, -np.inf, -0.0, 0.1]))
        name = draw(st.sampled_from(["time", "a b", "é/1", "file", "about", "_x"])) + str(place)
        scaled = {"units": "days since 2000-01-01", "scale_factor": 2.0}
        attributes = draw(st.sampled_from([{}, scaled]))
        result[name] = xr.Variable(dims, values.reshape(shape), attrs=attributes)
    return result


@st.composite
def tables(draw: st.DrawFn, kind: str) -> AnnotationTable:
    """A table of a kind: empty answers, unknown annotators, unused names, weights, states."""
    named = {
        dim: draw(st.lists(names, min_size=least, max_size=4, unique=True))
        for dim, least in (("example", 1), ("label", 1), ("annotator", 0))
    }
    size = draw(st.integers(0, 6))
    label = st.integers(0, len(named["label"]) - 1)
    answers = draw(
        several(st.lists(label, max_size=1 if kind == "single-label" else 3, unique=True), size)
    )
    pairs = [(response, code) for response, codes in enumerate(answers) for code in codes]
    mentions = len(pairs)
    sizes = {dim: len(texts) for dim, texts in named.items()}
    sizes |= {"response": size, "mention": mentions, "own": 2}
    return build_table(
        kind,
        examples=named["example"],
        annotators=named["annotator"],
        labels=named["label"],
        response_example=draw(several(st.integers(0, sizes["example"] - 1), size)),
        response_annotator=draw(several(st.integers(-1, sizes["annotator"] - 1), size)),
        mention_response=[response for response, _ in pairs],
        mention_label=[code for _, code in pairs],
        mention_block=draw(several(st.integers(1, 3), mentions))
        if kind == "partial-ranking"
        else None,
        mention_weight=draw(several(numbers, mentions)) if kind == "soft-label" else None,
        response_weight=draw(st.none() | several(numbers, size)),
        response_state=draw(st.none() | several(st.integers(0, 8), size)),
        unlisted=draw(st.sampled_from(["excluded", "unknown"])),
        labels_declared=draw(st.booleans()),
        left_out=draw(st.sampled_from([{}, {"bad rows": 2}])),
        variables=draw(variables(sizes)) if kind == "a plugin's" else {},
        coordinates={
            "risk": xr.Variable("label", np.linspace(0, 1, sizes["label"])),
            "patient": xr.Variable("example", np.array(["p"] * sizes["example"])),
        },
        attributes=draw(
            st.sampled_from(
                [
                    {},
                    {"source": "x.csv", "merged": '{"a": 1}', "number": np.float32(0.1)},
                    {"nested": {"a": (1, None, True)}, "array": np.arange(3), "nan": float("inf")},
                ]
            )
        ),
    )


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
    drawn = draw(st.booleans()) if draws is None else draws
    shape = (*([draw(st.integers(1, 3))] if drawn else []), len(examples), len(labels))
    most = st.integers(0, 5 if drawn else 10**6)
    votes = np.array(draw(several(most, int(np.prod(shape))))).reshape(shape)
    votes[..., draw(st.integers(0, len(labels) - 1))] += 1
    totals = votes.sum(axis=-1)
    dtype = np.float64 if plain else draw(st.sampled_from([np.float64, np.float32]))
    coords: dict[str, object] = {"example": examples, "label": labels}
    if drawn:
        texts = [[f"{x}{end}" for x in range(shape[0])] for end in ("", ".50")]
        numbered = [np.arange(1, shape[0] + 1)]
        coords["draw"] = draw(st.sampled_from([*numbered, *([] if plain else texts)]))
    if draw(st.booleans()):
        common = np.lcm.reduce(totals, axis=0) if drawn else totals
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


GUARANTEES = '[{"alpha": "1/10", "level": "9/10"}]'
COLUMNS = st.sampled_from(["example", "alpha", "size", "labels", "a | b", ";"])


@st.composite
def prediction_sets(draw: st.DrawFn) -> xr.DataArray:
    labels = draw(st.lists(names | COLUMNS, min_size=1, max_size=4, unique=True))
    examples = draw(st.lists(names | COLUMNS, min_size=1, max_size=4, unique=True))
    alphas = draw(st.lists(st.sampled_from([0.1, 0.05, 1 / 3, 1e-5]), min_size=1, unique=True))
    bits = draw(several(st.booleans(), len(labels) * len(examples) * len(alphas)))
    sets = xr.DataArray(
        np.array(bits).reshape(len(examples), len(labels), len(alphas)),
        dims=("example", "label", "alpha"),
        coords={"example": examples, "label": labels, "alpha": alphas},
        attrs={"guarantees": GUARANTEES, "fingerprint": "b1946ac9", "calibration_overlap": 2},
    )
    if len(alphas) == 1 and draw(st.booleans()):
        return sets.isel(alpha=0)
    return sets.transpose(*draw(st.permutations(["example", "label", "alpha"])))


def same(result: xr.Dataset | xr.DataArray, wanted: xr.Dataset | xr.DataArray) -> None:
    """Compare in bits: values, types, dims, coordinates, attributes and their types."""
    if isinstance(result, xr.DataArray) and isinstance(wanted, xr.DataArray):
        assert result.name == wanted.name
        result, wanted = (array.to_dataset(name="values") for array in (result, wanted))
    assert set(result.variables) == set(wanted.variables)
    assert set(result.coords) == set(wanted.coords)
    for name, variable in wanted.variables.items():
        another = result.variables[name]
        assert (another.dims, another.dtype) == (variable.dims, variable.dtype), name
        assert exactly(another.attrs) == exactly(variable.attrs), name
        if variable.dtype == object:
            assert another.values.tolist() == variable.values.tolist(), name
        else:
            assert another.values.tobytes() == variable.values.tobytes(), name
    assert exactly(result.attrs) == exactly(wanted.attrs)


def exactly(attributes: Mapping[Hashable, object]) -> dict[Hashable, tuple[type, str]]:
    """Return attributes with their types, where NaN is NaN."""
    return {key: (type(value), repr(value)) for key, value in attributes.items()}
