"""Change kernels, calibration, calibrators and combiners line by line, and run the tests.

``python scripts/mutants.py [--sample 1000] [--seed 0] [--processes 2] [--folder DIR]`` lets mutmut
make its mutants in a copy of the project and runs the tests that reach each one. It prints how many
were killed, and the survivors that ``scripts/mutants.toml`` does not explain; with these, or with
fewer than 90% killed, it exits with 1. ``tox -e mutants`` runs it.
"""

from __future__ import annotations

import argparse
import random
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
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
TESTS = ["kernels", "combiners", "calibrators", "exact", "conformal", "scores", "weights"]
KILLED, MINIMUM = {"killed", "timeout", "segfault", "caught by type check"}, 0.90


def main() -> int:
    """Run the mutants and print the figures; the exit status says whether they are met."""
    arguments = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    arguments.add_argument("--sample", type=int, default=1000, help="mutants to run")
    arguments.add_argument("--seed", type=int, default=0, help="seed of the sample")
    arguments.add_argument("--processes", type=int, default=2, help="mutants that run at once")
    arguments.add_argument("--folder", type=Path, help="where to copy the project; kept afterwards")
    options = arguments.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.folder or Path(scratch) / "mutants"
        copy_project(folder)
        mutmut(folder, "run", "plausibly.kernels.sums.*__mutmut_1")  # makes all mutants, runs these
        names = sorted(
            re.findall(r"\S+__mutmut_\d+$", mutmut(folder, "print-time-estimates"), re.M)
        )
        sample = random.Random(options.seed).sample(names, min(options.sample, len(names)))
        mutmut(folder, "run", "--max-children", str(options.processes), *sample)
        outcomes = dict(
            re.findall(r"^\s*(\S+): (.+)$", mutmut(folder, "results", "--all", "1"), re.M)
        )
        alive = [name for name in sorted(sample) if outcomes[name] not in KILLED]
        changes = {name: change(mutmut(folder, "show", name)) for name in alive}
    reasons = tomllib.loads(REASONS.read_text(encoding="utf-8"))["survivor"]
    explained = {(entry["old"], entry["new"]) for entry in reasons}
    unexplained = {name: pair for name, pair in changes.items() if pair not in explained}
    share = 1 - len(alive) / len(sample)
    print(f"{len(names)} mutants, {len(sample)} run (seed {options.seed}), {share:.1%} killed")
    print(f"{len(alive)} survived, {len(unexplained)} of them without a reason in {REASONS.name}")
    for name, (old, new) in unexplained.items():
        print(f"\n{name}\n  - {old}\n  + {new}")
    return int(bool(unexplained) or share < MINIMUM)


def copy_project(folder: Path) -> None:
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
        "also_copy": ["docs", "scripts", "benchmarks", *pages],
        "pytest_add_cli_args": ["-p", "no:cacheprovider", "-m", "not packaging and not slow"],
        "pytest_add_cli_args_test_selection": [f"tests/{name}" for name in TESTS],
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
