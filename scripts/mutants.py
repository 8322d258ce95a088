"""Change kernels, calibration, calibrators and combiners line by line, and run the tests.

``python scripts/mutants.py [--sample 1000] [--minutes 120] [--seed 0] [--processes 2] [--folder
DIR]`` lets mutmut make its mutants in a copy of the project and runs the tests that reach each one,
in batches of a random order. It prints how many were killed, and the survivors that
``scripts/mutants.toml`` does not explain; with these, or with fewer than 90% killed, it exits
with 1. ``tox -e mutants`` runs it.
"""

from __future__ import annotations

import argparse
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Sequence
from math import inf
from pathlib import Path

import tomli_w

PROJECT = Path(__file__).resolve().parents[1]
REASONS = PROJECT / "scripts" / "mutants.toml"
MUTATED = [
    "plausibly/kernels/*",
    "plausibly/calibration/*",
    "plausibly_builtins/calibrators/*",
    "plausibly_builtins/combiners/*",
]
TESTS = [
    *("kernels", "combiners", "calibrators", "exact", "conformal", "scores", "weights", "data"),
    *("annotations", "evaluation", "sparse"),
]
FIRST = "plausibly.calibration.threshold.x_score_threshold__mutmut_1"  # of few tests
BATCH = 50
KILLED, MINIMUM = {"killed", "timeout", "segfault", "caught by type check"}, 0.90


def main() -> int:
    """Run the mutants and print the figures; the exit status says whether they are met."""
    arguments = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    arguments.add_argument("--sample", type=int, default=1000, help="mutants to run at most")
    arguments.add_argument("--minutes", type=float, default=inf, help="start no batch after these")
    arguments.add_argument("--seed", type=int, default=0, help="seed of the sample")
    arguments.add_argument("--processes", type=int, default=2, help="mutants that run at once")
    arguments.add_argument("--tests", nargs="+", default=TESTS, help="folders of tests")
    arguments.add_argument("--folder", type=Path, help="where to copy the project; kept afterwards")
    options = arguments.parse_args()
    end = time.monotonic() + 60 * options.minutes
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.folder or Path(scratch) / "mutants"
        copy_project(folder, options.tests)
        mutmut(folder, "run", FIRST)  # makes all mutants, and learns which tests reach each
        names = sorted(outcomes(folder))
        sample = random.Random(options.seed).sample(names, min(options.sample, len(names)))
        ran: list[str] = []
        alive: list[str] = []
        while len(ran) < len(sample) and time.monotonic() < end:
            batch = sample[len(ran) : len(ran) + BATCH]
            # Without mutants all tests have passed once. A name is a pattern here, of which no test
            # is run again before the mutants; those of FIRST are, in every batch.
            patterns = [f"*{name}" for name in batch]
            mutmut(folder, "run", "--max-children", str(options.processes), FIRST, *patterns)
            ran += batch
            found = outcomes(folder)
            alive = [name for name in sorted(ran) if found[name] not in KILLED]
            print(f"{len(ran)} run, {len(alive)} survived", flush=True)
        changes = {name: change(mutmut(folder, "show", name)) for name in alive}
    reasons = tomllib.loads(REASONS.read_text(encoding="utf-8"))["survivor"]
    explained = {(entry["old"], entry["new"]) for entry in reasons}
    unexplained = {name: pair for name, pair in changes.items() if pair not in explained}
    share = 1 - len(alive) / max(1, len(ran))
    print(f"{len(names)} mutants, {len(ran)} run (seed {options.seed}), {share:.1%} killed")
    print(f"{len(alive)} survived, {len(unexplained)} of them without a reason in {REASONS.name}")
    for name, (old, new) in unexplained.items():
        print(f"\n{name}\n  - {old}\n  + {new}")
    return int(bool(unexplained) or share < MINIMUM)


def outcomes(folder: Path) -> dict[str, str]:
    """Return what became of each mutant."""
    lines = mutmut(folder, "results", "--all", "1")
    return dict(re.findall(r"^\s*(\S+): (.+)$", lines, re.M))


def copy_project(folder: Path, tests: Sequence[str]) -> None:
    """Lay the project out as mutmut expects it, with both packages in ``src``."""
    folder.mkdir(parents=True, exist_ok=True)
    for source in ("framework/plausibly", "plugins/plausibly_builtins"):
        shutil.copytree(PROJECT / source, folder / "src" / Path(source).name, dirs_exist_ok=True)
    for name in ("tests", "docs", "scripts", "benchmarks"):
        shutil.copytree(PROJECT / name, folder / name, dirs_exist_ok=True)
    settings = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))
    pages = [path.name for path in PROJECT.glob("*.md")]
    for name in pages:
        shutil.copy(PROJECT / name, folder)
    mutmut_settings = {
        "source_paths": ["src"],
        "only_mutate": [f"src/{pattern}" for pattern in MUTATED],
        # Tests hold the name and the details of a message, and not its words.
        "do_not_mutate_patterns": [
            r"^\s*(hint|expected|reason|source|covers|msg) ?= ?f?[\"']",
            r'^\s*f?"[^"]*",?$',
        ],
        "also_copy": ["docs", "scripts", "benchmarks", *pages],
        # A mutant that never ends fails one test, before the limit of all of them.
        "pytest_add_cli_args": [
            *("-p", "no:cacheprovider", "--timeout", "120"),
            *("-m", "not packaging and not slow and not realdata"),
        ],
        "pytest_add_cli_args_test_selection": [f"tests/{name}" for name in tests],
        "use_setproctitle": False,
        "track_dependencies": False,
        "use_git_change_detection": False,
    }
    tools = {"pytest": settings["tool"]["pytest"], "mutmut": mutmut_settings}
    (folder / "pyproject.toml").write_text(tomli_w.dumps({"tool": tools}), encoding="utf-8")


def mutmut(folder: Path, *arguments: str) -> str:
    """Run mutmut in the copy and return what it prints."""
    command = [str(Path(sys.executable).with_name("mutmut")), *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"mutmut {arguments[0]} failed:\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
    return done.stdout


def change(diff: str) -> tuple[str, str]:
    """Return the lines of a diff that go and come, without what they share around them."""
    lines = [line for line in diff.splitlines() if not line.startswith(("---", "+++"))]
    old = " ".join(line[1:].strip() for line in lines if line.startswith("-"))
    new = " ".join(line[1:].strip() for line in lines if line.startswith("+"))
    return old, new


if __name__ == "__main__":
    sys.exit(main())
