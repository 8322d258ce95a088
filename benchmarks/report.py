"""All benchmarks of this folder in turn, as one page in Markdown.

``python benchmarks/report.py`` takes the short sizes, a few minutes; ``--large`` those of the
goals, which want 16 GiB and most of an hour. ``--out PAGE`` writes the page besides printing it.
"""

from __future__ import annotations

import argparse
import datetime
import os
import platform
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
# What it costs

Every figure is a ratio of times that were taken in turn in one run: its median, with the least and
the largest. Absolute times are those of the machine that made this page. The goals are those that
this project set itself before it measured; a goal that was missed stays in the table.

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


def main() -> None:
    """Print the page, and write it where a path is given."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--large", action="store_true", help="the sizes of the goals")
    parser.add_argument("--out", type=Path, help="where to write the page too")
    asked = parser.parse_args()
    made = page(asked.large)
    print(made)
    if asked.out is not None:
        asked.out.write_text(made, encoding="utf-8")


if __name__ == "__main__":
    main()
