"""Changes of an annotation table by xarray are found when the table is used next."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import xarray as xr

from plausibly.data.annotations import AnnotationTable, build_table, check_table
from plausibly.data.select import answered, concat_annotations, select_annotations, to_frame
from plausibly.errors import InputError
from refusals import refused

Change = Callable[[xr.Dataset], xr.Dataset]


def one_higher(name: str) -> Change:
    def change(table: xr.Dataset) -> xr.Dataset:
        changed = table.copy(deep=True)
        changed[name][0] += 1
        return changed

    return change


def written_to(table: xr.Dataset) -> xr.Dataset:
    column = table["response_weight"].values
    column[0] += 1
    return table


CHANGES: dict[str, Change] = {
    "isel": lambda t: t.isel(example=[0, 2]),
    "isel that keeps the size": lambda t: t.isel(example=[1, 0, 2]),
    "isel of labels": lambda t: t.isel(label=[1, 0, 2]),
    "assign_coords of labels": lambda t: t.assign_coords(label=["z", "a", "n"]),
    "reordered responses": lambda t: t.isel(response=[1, 0, 2, 3, 4, 5]),
    "reordered mentions": lambda t: t.isel(mention=[1, 0, 2, 3, 4, 5, 6]),
    "other weights": lambda t: t.assign(response_weight=t["response_weight"] * 2),
    "other ranks": lambda t: t.assign(mention_block=t["mention_block"] + 1),
    **{
        f"another {name}": one_higher(name)
        for name in ("mention_response", "mention_label", "response_example", "response_annotator")
    },
    "without weights": lambda t: t.drop_vars("mention_weight"),
    "where": lambda t: t.where(t["response_weight"] > 1),
    "a column that was written to": written_to,
    "some variables": lambda t: t[["skill"]],
    "checksum of another": lambda t: t.assign_attrs(checksum="00" * 16),
    "no checksum": lambda t: t.drop_attrs(),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_every_change_is_found(table: AnnotationTable, change: Change) -> None:
    changed = change(table)
    with pytest.raises(InputError) as caught:
        check_table(changed)
    assert caught.value.name in {"table-detached", "table-unknown"}
    if isinstance(changed, AnnotationTable):
        assert repr(changed).startswith("annotations  detached: ")
        assert "use plausibly.select_annotations(ann, " in repr(changed)


@pytest.mark.parametrize(
    "entry",
    [
        check_table,
        lambda table: select_annotations(table, example="c1"),
        lambda table: concat_annotations([table]),
        to_frame,
        answered,
    ],
)
def test_every_entry_compares_the_checksum(
    table: AnnotationTable, entry: Callable[[xr.Dataset], object]
) -> None:
    with refused("table-detached", "found another checksum"):
        entry(table.isel(example=[0, 2]))
    del table.attrs["checksum"]
    with refused("table-detached", "found no checksum"):
        entry(table)


@pytest.mark.parametrize(
    "change",
    [
        lambda t: t.assign_coords(site=("example", ["n", "s", "n"])),
        lambda t: t.assign(response_note=("response", list("abcdef"))),
        lambda t: t.assign_attrs(note="mine"),
        lambda t: t.assign_coords(example=t["example"].astype(object)),
        lambda t: t.assign(mention_label=t["mention_label"].astype(">i4")),
        lambda t: t.drop_vars(["skill", "patient"]),
    ],
)
def test_what_does_not_move_names_keeps_the_checksum(
    table: AnnotationTable, change: Change
) -> None:
    check_table(change(table), frozenset({"mine", "yours"}))


def test_the_digest_is_of_names_and_the_same_on_every_machine() -> None:
    def checksum(*examples: str) -> object:
        return build_table(
            "single-label",
            examples=examples,
            annotators=["r"],
            labels=["a"],
            response_example=[0],
            response_annotator=[0],
            mention_response=[0],
            mention_label=[0],
        ).attrs["checksum"]

    assert checksum("é", "7") == "940e458308e0fc4def24f867739f1498"
    assert len({checksum(*names) for names in (("ab", "c"), ("a", "bc"), ("ab",), ("a", "b"))}) == 4


@pytest.mark.parametrize(
    ("inputs", "result"),
    [
        ([1, 2], "a list"),
        (xr.DataArray([1]), "a DataArray"),
        (xr.Dataset(), "a Dataset without response_example, response_annotator, mention_resp"),
    ],
)
def test_what_is_no_table_is_refused(
    table: AnnotationTable, inputs: xr.Dataset, result: str
) -> None:
    with refused("table-unknown", f"found {result}", "hint plausibly.read_annotations(path)"):
        check_table(inputs)
    with refused("kind-unsuitable", "found mine"):
        check_table(table, frozenset({"yours", "theirs"}), source="votes.csv")
