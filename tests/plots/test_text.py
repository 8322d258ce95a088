"""Names of any length: on few short lines, told apart, and never read as markup."""

from __future__ import annotations

from hypothesis import given, strategies as st

from plausibly.plots.style import shown_name, shown_names

WILD = st.text(max_size=400)


@given(WILD)
def test_a_name_fits_whatever_it_is(name: str) -> None:
    shown = shown_name(name, width=20, lines=2)
    assert shown
    lines = shown.split("\n")
    assert len(lines) <= 2
    assert all(len(line) <= 20 for line in lines)


def test_what_is_cut_is_seen_to_be_cut() -> None:
    shown = shown_name("a finding of the left lower lobe that takes very many words to say")
    assert "…" in shown
    assert shown.startswith("a finding of the")
    assert shown.endswith("to say")
    assert "…" not in shown_name("a name of two lines, nothing of which is cut")
    assert shown_name("line\nbreak\ttab") == "line break tab"
    assert shown_name("\u202etxt.exe\x00") == "�txt.exe�"
    assert shown_name(" ") == '""'
    assert shown_name(7) == "7"


def test_names_that_look_alike_once_cut_are_numbered() -> None:
    long = ["a" * 100 + middle + "b" * 100 for middle in "xyz"]
    shown = shown_names([*long, "c"])
    assert len(set(shown)) == 4
    assert shown[0].endswith("#1")
    assert shown[3] == "c"
