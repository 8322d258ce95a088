"""``plausibly info``: versions, extras, threads, environment and plugins, for a report."""

from __future__ import annotations

import importlib.metadata as metadata
import os
import platform
import re
import sys

from plausibly.cli import layout
from plausibly.cli.output import Output

_ROOM = layout.WIDTH - len("environment  ")

VARIABLES = (
    "PLAUSIBLY_DISABLE_PLUGINS",
    "PLAUSIBLY_STRICT_PLUGINS",
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NO_COLOR",
    "PYTHONPATH",
)
"""Environment variables that change what is found, how fast it is, or how it looks."""


def info(output: Output) -> None:
    """Say what is installed and set: what to paste into a report of a fault.

    plausibly info
    plausibly info --json
    """
    from plausibly import registry
    from plausibly.conformal import FORMAT
    from plausibly.registry.entries import extras_of, missing

    named = [name for name in extras_of("plausibly") if name != "all"]
    extras = {name: not missing("plausibly", name) for name in named}
    made = registry.default()
    broken = {failure.source for failure in made.failures()}
    plugins = {
        "ready": len(set(made.plugins()) - broken),
        "failed": len(broken),
        "disabled": len(made.disabled()),
    }
    core = {name: version(name) for name in requirements("plausibly")}
    environment = {name: os.environ[name] for name in VARIABLES if os.environ.get(name)}
    ours, python = version("plausibly"), platform.python_version()
    output.document |= {
        "version": ours,
        "python": python,
        "interpreter": sys.executable,
        "threads": threads(),
        "predictor_format": FORMAT,
        "core": core,
        "extras": extras,
        "plugins": plugins,
        "environment": environment,
    }
    output.show(
        f"plausibly {ours} · Python {python} · {threads()} threads · predictor format {FORMAT}"
    )
    # A version is never parted from its name.
    text = ", ".join(f"{name}\N{NO-BREAK SPACE}{installed}" for name, installed in core.items())
    lines = [line.replace("\N{NO-BREAK SPACE}", " ") for line in layout.wrapped(text, _ROOM)]
    output.rows(
        [
            ("core", lines or ["none"]),
            ("extras", _there(extras)),
            ("plugins", ", ".join(f"{count} {state}" for state, count in plugins.items())),
            ("environment", ", ".join(f"{n}={v}" for n, v in environment.items()) or "nothing set"),
            ("python", [sys.executable]),
        ]
    )


def version(distribution: str) -> str:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return "missing"


def requirements(distribution: str) -> list[str]:
    """Return the names of what a distribution always needs, sorted."""
    try:
        lines = metadata.requires(distribution) or []
    except metadata.PackageNotFoundError:
        return []
    names = (re.match(r"[\w.-]+", line) for line in lines if "extra ==" not in line)
    return sorted(name[0] for name in names if name)


def threads() -> int:
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _there(extras: dict[str, bool]) -> list[str]:
    """Return the extras that are there and those that are not, each from the start of a line."""
    lines = []
    for answer, state in (("yes", True), ("no", False)):
        names = " ".join(name for name, present in extras.items() if present is state) or "none"
        lines += layout.wrapped(f"{answer + ':':5}{names}", _ROOM, indent=5)
    return lines
