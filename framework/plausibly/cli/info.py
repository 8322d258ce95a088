"""``plausibly info``: versions, extras, threads, environment and plugins, for a report."""

from __future__ import annotations

import importlib.metadata as metadata
import os
import platform
import sys

from plausibly.cli.output import Output

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
    from plausibly.registry.entries import extras_of, missing, requirements

    named = [name for name in extras_of("plausibly") if name != "all"]
    extras = {name: not missing("plausibly", name) for name in named}
    known = registry.default()
    broken = {failure.source for failure in known.failures()}
    plugins = {
        "ready": len(set(known.plugins()) - broken),
        "failed": len(broken),
        "disabled": len(known.disabled()),
    }
    core = {name: version(name) for name in sorted(requirements("plausibly"))}
    environment = {name: os.environ[name] for name in VARIABLES if os.environ.get(name)}
    threads = os.cpu_count() or 1
    if sys.platform == "linux":
        threads = len(os.sched_getaffinity(0))
    ours, python = version("plausibly"), platform.python_version()
    output.document |= {
        "version": ours,
        "python": python,
        "interpreter": sys.executable,
        "threads": threads,
        "predictor_format": FORMAT,
        "core": core,
        "extras": extras,
        "plugins": plugins,
        "environment": environment,
    }
    output.show(
        f"plausibly {ours} · Python {python} · {threads} threads · predictor format {FORMAT}"
    )
    present = " ".join(name for name, there in extras.items() if there) or "none"
    lacking = " ".join(name for name, there in extras.items() if not there) or "none"
    output.rows(
        [
            ("core", ", ".join(f"{name} {installed}" for name, installed in core.items())),
            ("extras", f"{present}; not installed: {lacking}"),
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
