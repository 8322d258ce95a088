"""Lines of keys in TOML: every key that is found stands on the line that is said."""

from __future__ import annotations

from pathlib import Path

import pytest
import tomli_w
from hypothesis import given, strategies as st

import plausibly
from plausibly.config.document import lines_of, path_text, paths_of
from plausibly.study.prepare import prepare

DOCUMENT = '''\
a = 1 # x = 2
"b c".d = [1,
  2, [3], {x = "}]", 'y.z' = """
q = 1
""", k = 4}, # [t]
]
[t]  # [u]
[ t . u ]
k = 'a]'

[[l]]
n = 1
[[l]]
[l.m]
n.o = 2
[[l.z]]
[[l.z]]
when = 1979-05-27 07:32:00
none = ""
few = [ ]
no = {}
lit = \'\'\'
it's
\'\'\'
"""last" = 3
'''.replace('"""last"', '"la\\u0073t"')


def test_every_form_of_key() -> None:
    assert lines_of(DOCUMENT) == {
        "a": 1,
        "b c": 2,
        "b c.d": 2,
        "b c.d[0]": 2,
        "b c.d[1]": 3,
        "b c.d[2]": 3,
        "b c.d[2][0]": 3,
        "b c.d[3]": 3,
        "b c.d[3].x": 3,
        "b c.d[3].y.z": 3,
        "b c.d[3].k": 3,  # a string that goes on hides where the next key begins
        "t": 7,
        "t.u": 8,
        "t.u.k": 9,
        "l": 11,
        "l[0]": 11,
        "l[0].n": 12,
        "l[1]": 13,
        "l[1].m": 14,
        "l[1].m.n": 15,
        "l[1].m.n.o": 15,
        "l[1].z": 16,
        "l[1].z[0]": 16,
        "l[1].z[1]": 17,
        "l[1].z[1].when": 18,
        "l[1].z[1].none": 19,
        "l[1].z[1].few": 20,
        "l[1].z[1].no": 21,
        "l[1].z[1].lit": 22,
        "l[1].z[1].last": 25,
    }


KEYS = st.text(st.sampled_from("ab-_ é\"'#{}=,\\\n"), min_size=1, max_size=4)
SCALARS = st.booleans() | st.text(st.sampled_from("ab\"'#[]{}=,.\\\n"), max_size=6)
VALUES = st.recursive(
    SCALARS | st.just(0),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=12,
)


def numbered(value: object, count: list[int]) -> object:
    """Return the same with another whole number for each scalar: a mark to look for."""
    if isinstance(value, dict):
        return {key: numbered(item, count) for key, item in value.items()}
    if isinstance(value, list):
        return [numbered(item, count) for item in value]
    count[0] += 1
    return 900_000 + count[0]


@given(st.dictionaries(KEYS, VALUES, max_size=4))
def test_a_key_stands_where_its_value_stands(table: dict[str, object]) -> None:
    marked = numbered(table, [0])
    assert isinstance(marked, dict)
    text = tomli_w.dumps(marked)
    result = lines_of(text)
    for path in paths_of(marked):
        value: object = marked
        for part in path:
            value = value[part]  # type: ignore[index]  # a path leads through tables and lists
        if isinstance(value, dict | list):
            continue
        lines = [number for number, row in enumerate(text.split("\n"), 1) if str(value) in row]
        assert [result[path_text(path)]] == lines


def test_other_ends_of_lines_and_keys_that_are_written_alike() -> None:
    assert lines_of("a = 1\r\nb = 2\r\n") == {"a": 1, "b": 2}
    assert lines_of('a.b = 1\n"a.b" = 2\nc = 3\n') == {"a": 1, "c": 3}


@pytest.mark.parametrize("path", [r"C:\users\x.csv", r"data\test.csv"])
def test_backslashes_of_paths(tmp_path: Path, path: str) -> None:
    study = tmp_path / "study.toml"
    parts = (
        f'[annotations]\npath = "{path}"',
        '[predictions]\npath = "p.csv"',
        "[[methods]]\ncalibrator = {name = 'expected'}",
    )
    study.write_text("\n".join(parts))
    with pytest.raises(plausibly.InputError) as caught:
        prepare(study)
    assert caught.value.name == ("toml-broken" if path[0] == "C" else "config-key")
    assert "/ for each backslash" in caught.value.hint
    assert "\t" not in str(caught.value)
    shown = "backslash" if path[0] == "C" else path
    assert shown in str(caught.value)
