"""Annotation tables to a file and back, to the last bit."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from io_annotation_tables import ENDINGS, KINDS, same, tables
from plausibly.io.annotation_files import read_annotation_file, write_annotations
from plausibly.labelled.table import AnnotationTable


@pytest.mark.parametrize("ending", ENDINGS)
@given(table=st.sampled_from(KINDS).flatmap(tables))
@settings(max_examples=50)
def test_everything_comes_back(
    tmp_path_factory: pytest.TempPathFactory, ending: str, table: AnnotationTable
) -> None:
    path = tmp_path_factory.mktemp("ann") / f"votes{ending}"
    before = table.copy(deep=True)
    write_annotations(table, path)
    same(table, before)
    same(read_annotation_file(path), table)
    assert [one.name for one in path.parent.iterdir()] == [path.name]
