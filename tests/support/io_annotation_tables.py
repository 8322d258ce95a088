"""Annotation tables of every kind, with names and variables that trip up files."""

from __future__ import annotations

import numpy as np
import xarray as xr
from hypothesis import strategies as st

from plausibly.data.annotations import AnnotationTable, build_table

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


@st.composite
def variables(draw: st.DrawFn, sizes: dict[str, int]) -> dict[str, xr.Variable]:
    """Further variables of any type over dims of a table, and over one of their own."""
    result: dict[str, xr.Variable] = {}
    for place in range(draw(st.integers(0, 2))):
        dims = tuple(draw(st.lists(st.sampled_from(sorted(sizes)), max_size=2, unique=True)))
        dtype = draw(st.sampled_from(DTYPES))
        shape = tuple(sizes[dim] for dim in dims)
        count = int(np.prod(shape))
        whole = draw(st.lists(st.integers(0, 120), min_size=count, max_size=count))
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
        attributes = draw(
            st.sampled_from([{}, {"units": "days since 2000-01-01", "scale_factor": 2.0}])
        )
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
    example = draw(st.lists(codes(named["example"]), min_size=size, max_size=size))
    annotator = draw(
        st.lists(st.integers(-1, len(named["annotator"]) - 1), min_size=size, max_size=size)
    )
    answers = st.lists(codes(named["label"]), max_size=3, unique=True)
    if kind == "single-label":
        answers = st.lists(codes(named["label"]), max_size=1)
    records = draw(st.lists(answers, min_size=size, max_size=size))
    pairs = [(response, label) for response, labels in enumerate(records) for label in labels]
    mentions = len(pairs)
    sizes = {
        **{dim: len(texts) for dim, texts in named.items()},
        "response": size,
        "mention": mentions,
        "own": 2,
    }
    blocks = st.lists(st.integers(1, 3), min_size=mentions, max_size=mentions)
    weights = st.lists(numbers, min_size=mentions, max_size=mentions)
    of_response = st.lists(numbers, min_size=size, max_size=size)
    states = st.lists(st.integers(0, 8), min_size=size, max_size=size)
    return build_table(
        kind,
        examples=named["example"],
        annotators=named["annotator"],
        labels=named["label"],
        response_example=example,
        response_annotator=annotator,
        mention_response=[response for response, _ in pairs],
        mention_label=[label for _, label in pairs],
        mention_block=draw(blocks) if kind == "partial-ranking" else None,
        mention_weight=draw(weights) if kind == "soft-label" else None,
        response_weight=draw(st.none() | of_response),
        response_state=draw(st.none() | states),
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


def codes(texts: list[str]) -> st.SearchStrategy[int]:
    return st.integers(0, len(texts) - 1)


def same(result: xr.Dataset, wanted: xr.Dataset) -> None:
    """Compare tables in bits: values, types, dims, coordinates, attributes and the checksum."""
    assert set(result.variables) == set(wanted.variables)
    assert set(result.coords) == set(wanted.coords)
    for name, variable in wanted.variables.items():
        another = result.variables[name]
        assert (another.dims, another.dtype) == (variable.dims, variable.dtype), name
        assert another.attrs == variable.attrs, name
        if variable.dtype == object:
            assert another.values.tolist() == variable.values.tolist(), name
        else:
            assert another.values.tobytes() == variable.values.tobytes(), name
    attributes = [{key: repr(value) for key, value in t.attrs.items()} for t in (result, wanted)]
    assert attributes[0] == attributes[1]
