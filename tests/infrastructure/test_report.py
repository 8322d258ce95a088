"""The page of benchmarks names what rose since the page before."""

from __future__ import annotations

import runpy
from pathlib import Path

BENCHMARK = runpy.run_path(str(Path(__file__).resolve().parents[2] / "benchmarks" / "report.py"))
PAGE = """\
| what | beside | ratio of times | goal | note |
|---|---|---|---|---|
| draws | uniforms (114 ms) | 1.52 (1.19 to 2.14) | at most 3 | 123 MiB |
| p-values | crepes (1.26 s) | 457 (344 to 624) | crepes takes at least 100 | ours 2.48 ms |
| small | a read (2 ms) | 2.00 (1.9 to 2.1) |  | 4 MiB; goal under 5 MiB |
"""


def test_rows_that_rose_are_named() -> None:
    worse = BENCHMARK["worse"]
    assert worse(PAGE, PAGE) == worse("", PAGE) == []
    for old, new, row in (
        ("1.52 (", "2.29 (", "draws, uniforms"),
        ("457 (", "300 (", "p-values, crepes"),
        ("123 MiB", "190 MiB", "draws, uniforms, memory"),
    ):
        (row_worse,) = worse(PAGE, PAGE.replace(old, new))
        assert row_worse.startswith(f"{row}: ")
    for old, new in (("1.52 (", "2.27 ("), ("457 (", "900 ("), ("4 MiB;", "20 MiB;")):
        assert worse(PAGE, PAGE.replace(old, new)) == []
