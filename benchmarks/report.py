"""All benchmarks of this folder in turn, as one page in Markdown.

``python benchmarks/report.py`` takes the short sizes, a few minutes; ``--large`` those of the
goals, which want 16 GiB and most of an hour. ``--out PAGE`` writes the page besides printing it.
Where a page stands there already, rows that rose to more than 1.5 times their ratio or memory are
named, and the exit code is 1.
"""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import re
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).parent
SHORT: dict[str, list[str]] = {
    "kernels.py": ["--large"],
    "peers.py": ["--large", "--rounds", "5"],
    "service.py": [],
    "scaling.py": [],
    "many_labels.py": ["--examples", "50000"],
    "out_of_core.py": [],
    "crowd.py": ["--rounds", "5"],
}
LARGE: dict[str, list[str]] = {
    "kernels.py": ["--large"],
    "peers.py": ["--large"],
    "service.py": [],
    "scaling.py": ["--large"],
    "many_labels.py": ["--examples", "1000000"],
    "out_of_core.py": ["--examples", "2000000"],
    "crowd.py": [],
}
_INTRODUCTION = """\
# Performance

Every figure is a ratio of times that were measured in turn in one run: its median, with the minimum
and the maximum. Absolute times depend on the machine. Goals were set before measuring; a goal that
was missed stays in the table.

Made by `python benchmarks/report.py{large}` on {day}: {processors} processors, {system}.
"""


def ran(script: str, arguments: list[str]) -> str:
    """Return what a benchmark printed.

    Raises
    ------
    RuntimeError
        Where it failed, with the end of what it said.
    """
    done = subprocess.run(
        [sys.executable, "-W", "ignore", str(FOLDER / script), *arguments],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"{script} failed: {done.stderr[-2000:]}")
    return done.stdout.strip()


def page(large: bool) -> str:
    """Return the page; each benchmark has a process of its own."""
    chosen = LARGE if large else SHORT
    head = _INTRODUCTION.format(
        large=" --large" if large else "",
        day=datetime.datetime.now(datetime.UTC).date().isoformat(),
        processors=os.cpu_count(),
        system=f"{platform.system()} {platform.machine()}",
    )
    parts = [head.strip()]
    for script, arguments in chosen.items():
        print(f"{script} ...", file=sys.stderr, flush=True)
        parts.append(ran(script, arguments))
    return "\n\n".join(parts) + "\n"


_ROSE = 1.5
_LEAST_MIB = 16  # below, a figure says more about the interpreter


def figures(page: str) -> dict[tuple[str, ...], float]:
    """Return the ratio of each row, and the memory that it states, by what it measures."""
    found: dict[tuple[str, ...], float] = {}
    for line in page.splitlines():
        what, beside, *rest = [cell.strip() for cell in line.strip("|").split("|")] + [""] * 4
        beside = beside.partition(" (")[0]
        ratio = re.match(r"[\d.]+(?= \()", rest[0])
        if not ratio:
            continue
        value = float(ratio.group())
        # Where another library is to take so many times as long, more is better.
        found[what, beside] = 1 / value if "at least" in rest[1] else value
        if memory := re.match(r"([\d.]+) MiB", rest[2]):
            found[what, beside, "memory"] = float(memory.group(1))
    return found


def worse(before: str, after: str) -> list[str]:
    """Return what rose between two pages, a line each."""
    old, new = figures(before), figures(after)
    return [
        f"{', '.join(row)}: {old[row]:g}, now {new[row]:g}"
        for row in old
        if row in new and new[row] > _ROSE * max(old[row], _LEAST_MIB * (len(row) > 2))
    ]


def main() -> None:
    """Print the page, and write it where a path is given; exit with 1 where a figure rose."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--large", action="store_true", help="the sizes of the goals")
    parser.add_argument("--out", type=Path, help="where to write the page too")
    asked = parser.parse_args()
    made = page(asked.large)
    print(made)
    if asked.out is not None:
        before = asked.out.read_text("utf-8") if asked.out.exists() else ""
        asked.out.write_text(made, encoding="utf-8")
        if rose := worse(before, made):
            sys.exit("more than 1.5 times as much as on the page before:\n" + "\n".join(rose))


if __name__ == "__main__":
    main()
