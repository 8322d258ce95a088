"""Cases of readers: files, how each is read, and the table or the refusal that comes of it."""

from __future__ import annotations

import csv
import gzip
import io
import json
import tomllib
import zipfile
from collections.abc import Callable, Iterable
from hashlib import blake2b
from pathlib import Path
from typing import Any
from warnings import catch_warnings, simplefilter

import numpy as np
import pandas as pd
import xarray as xr

import plausibly
from plausibly.data.annotations import not_counted
from plausibly.data.states import STATES
from plausibly.errors import InputError, PlausiblyWarning
from plausibly.io import files
from plausibly.io.datasets import write_rows
from plausibly.plugin import READER, Reader
from plausibly.registry import default

COLUMNS = ("example", "annotator", "label", "block", "share", "weight", "state")
# Any: a cell of a column
FURTHER: dict[str, tuple[str, Callable[[Any], str]]] = {
    "block": ("mention_block", lambda cell: str(int(cell))),
    "share": ("mention_weight", lambda cell: repr(float(cell))),
    "weight": ("response_weight", lambda cell: repr(float(cell))),
    "state": ("response_state", str),
}
TOLD = ("name", "found", "details")
ASKED = ("function", "reader", "declared", "declared_file", "options", "replace", "kit")
BESIDE = ("unlisted", "repeated", "merged", "model", "scale")

Spec = dict[str, Any]  # what TOML holds


def load(path: Path) -> list[Spec]:
    """Return the files of a case; each has the list ``read``, of how it is read."""
    files: list[Spec] = tomllib.loads(path.read_text(encoding="utf-8"))["file"]
    return files


# ---- the file


def content(file: Spec) -> bytes:
    """Return the bytes of a file: its text, compressed where its name says so, or its arrays."""
    stream = io.BytesIO()
    if "text" in file:
        data = str(file["text"]).encode(file.get("encoding", "utf-8"))
        return gzip.compress(data, mtime=0) if file["name"].endswith(".gz") else data
    if "files" in file:
        with zipfile.ZipFile(stream, "w") as archive:
            for member, text in file["files"].items():
                archive.writestr(zipfile.ZipInfo(member), text)  # of no time
    elif "array" in file:
        np.save(stream, np.array(file["array"], file.get("dtype")))
    else:
        arrays: dict[str, Any] = {key: np.array(value) for key, value in file["arrays"].items()}
        np.savez(stream, **arrays)
    return stream.getvalue()


def changed(file: Spec, case: Spec) -> Spec:
    """Return the file as one of its cases has it: with other words in place of some."""
    text = file.get("text", "")
    for old, new in case.get("replace", {}).items():
        assert text.count(old) == 1, f"{old!r} is not there once"
        text = text.replace(old, new)
    return {**file, "text": text} if "replace" in case else file


def write(folder: Path, file: Spec) -> Path:
    """Write a file or folder of a case into a folder; return its path."""
    path = folder / str(file["name"])
    if "columns" in file:
        columns = [c if isinstance(c[0], str) else np.array(c) for c in file["columns"].values()]
        write_rows(path, list(file["columns"]), columns)
    elif "files" in file and not path.suffix:
        path.mkdir()
        for member, text in file["files"].items():
            (path / member).parent.mkdir(parents=True, exist_ok=True)
            (path / member).write_text(text, encoding="utf-8", newline="")
    else:
        data = content(file)
        path.write_bytes(data[: len(data) - file.get("cut", 0)])
    return path


# ---- what reading it gives


def long_table(table: xr.Dataset) -> list[list[str]]:
    """Return one row per label of each response; one without labels has a row of its own."""
    frame = plausibly.to_frame(table)
    columns = []
    for name in COLUMNS:
        variable, text = FURTHER.get(name, (name, str))
        cells = frame.get(variable, [None] * len(frame))
        columns.append(["" if pd.isna(cell) else text(cell) for cell in cells])
    return [list(row) for row in zip(*columns, strict=True)]


def messages(issued: Iterable[InputError | PlausiblyWarning]) -> list[Spec]:
    """Return the names of messages, and what they found, in their order."""
    fields = [json.loads(json.dumps(item.fields())) for item in issued]
    fields.sort(key=lambda item: str(item["name"]))
    return [{key: item[key] for key in TOLD if item[key]} for item in fields]


def digest(result: Spec) -> str:
    # In the digests a state is its code.
    rows = [[*row[:-1], row[-1] and str(STATES.index(row[-1]))] for row in result["table"]]
    warned = sorted({item["name"] for item in result["warned"]})
    kept = repr((rows, [result["labels"], result["examples"], warned]))
    return blake2b(kept.encode(), digest_size=12).hexdigest()


def described(table: xr.Dataset | xr.DataArray, shares: bool) -> Spec:
    """Return what a table of annotations, or of predictions, holds; and its shares of labels."""
    names = {f"{dim}s": table[dim].values.tolist() for dim in table.dims if dim in table.coords}
    result: Spec = names | {key: table.attrs[key] for key in BESIDE if key in table.attrs}
    if isinstance(table, xr.DataArray):  # predictions
        left_out = json.loads(table.attrs.get("left_out", "{}"))
        return result | {"values": table.values.tolist(), "not_counted": left_out}
    if shares:
        means = plausibly.aggregate(table, unanswered="drop")
        rows = zip(means["example"].values.tolist(), means.values.round(12).tolist(), strict=True)
        result["shares"] = dict(rows)
    return result | {
        "sizes": dict(table.sizes),
        "kind": table.attrs["kind"],
        "recognised": table.attrs["reader"],
        "labels_declared": bool(table.attrs["labels_declared"]),
        "table": long_table(table),
        "not_counted": not_counted(table),
    }


def read(path: Path, case: Spec) -> xr.Dataset | xr.DataArray:
    """Read a file as a case has it: to annotations, or predictions."""
    options = dict(case.get("options", {}))
    if "declared_file" in case:
        options["labels"] = path.with_name("labels.csv")
        options["labels"].write_text(case["declared_file"], encoding="utf-8")
    elif "declared" in case:
        options["labels"] = case["declared"]
    call = getattr(plausibly, case.get("function", "read_annotations"))
    table: xr.Dataset | xr.DataArray = call(path, reader=case.get("reader"), **options)
    return table


def answer(path: Path, case: Spec) -> Spec:
    """Return what reading a file gives: its warnings, and the table or the refusal."""
    with catch_warnings(record=True) as warned:
        simplefilter("always")
        try:
            result = described(read(path, case), "shares" in case)
        except InputError as error:
            result = {"refused": messages([error])[0]}
    own = [item.message for item in warned if isinstance(item.message, PlausiblyWarning)]
    result["warned"] = messages(own)
    if "digest" in case:  # of a table that is long
        result["digest"] = digest(result)
    for key in ("table", "labels", "examples", "annotators") if "digest" in case else ("sizes",):
        result.pop(key, None)
    return result


def recognisers(path: Path, request: Spec | None = None) -> list[str]:
    """Return the names of our readers, or of the one that is asked, that recognise a file."""
    head = b"" if path.is_dir() else files.opening(path, "annotations")
    every = [{"name": item.name} for item in default().entries(READER) if item.source.builtin]
    result: list[str] = []
    for syntax in [request] if request else every:
        reader: Reader = default().create(READER, syntax)
        if reader.recognises(path, head):
            result.append(syntax["name"])
    return result


def expected(case: Spec) -> Spec:
    """Return what a case says, and what goes without saying."""
    wanted = {"warned": [], **{key: case[key] for key in case if key not in ASKED}}
    if "refused" in case:
        return wanted
    if "values" in case:
        return {"scale": "any", "not_counted": {}} | wanted
    usual: Spec = {
        "recognised": case.get("reader"),
        "labels_declared": "declared" in case or "declared_file" in case,
        "unlisted": "excluded",
        "not_counted": {},
    }
    if "digest" in case:
        return usual | wanted
    rows = list(csv.DictReader(io.StringIO(case["table"], newline="")))
    table = [[row.get(column, "") for column in COLUMNS] for row in rows]
    usual["examples"] = sorted({row[0] for row in table})
    usual["annotators"] = sorted({row[1] for row in table} - {""})
    return usual | wanted | {"table": table}
