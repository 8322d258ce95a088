"""Public names with their signatures, components with their parameters."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator
from importlib import import_module

import nets
from cli_world import run

MODULES = (
    "plausibly",
    "plausibly.errors",
    "plausibly.annotators",
    "plausibly.evaluation",
    "plausibly.planning",
    "plausibly.huggingface",
    "plausibly.plots",
    "plausibly.plugin",
    "plausibly.plugin.readers",
    "plausibly.sklearn",
    "plausibly.testing",
    "plausibly.torch",
)


def parameters(of: object) -> str:
    """Return the parameters of a callable, without types; nothing where there are none."""
    try:
        result = inspect.signature(of).parameters.values()  # type: ignore[arg-type]  # tried
    except (TypeError, ValueError):
        return ""
    return f"({', '.join(str(item.replace(annotation=item.empty)) for item in result)})"


def public(module: str) -> Iterator[str]:
    loaded = import_module(module)
    for name in sorted(getattr(loaded, "__all__", None) or dir(loaded)):
        value = getattr(loaded, name, None)
        if name.startswith("_") or inspect.ismodule(value):
            continue
        if getattr(value, "__module__", "").split(".")[0] not in ("plausibly", ""):
            continue
        yield f"{module}.{name}{parameters(value) if callable(value) else ''}"
        if module == "plausibly" and inspect.isclass(value):
            for member in sorted(vars(value)):
                if not member.startswith("_"):
                    yield f"  {member}{parameters(vars(value)[member])}"


def test_public_names() -> None:
    nets.compare("names.txt", [line for module in MODULES for line in public(module)])


def test_components_and_their_parameters() -> None:
    listed = json.loads(run("plugins", "list", "--json").out)["components"]
    lines = []
    for row in listed:
        ours = f"{row['kind']} {row['plugin']}:{row['name']}"
        ran = run("plugins", "info", f"{row['plugin']}:{row['name']}", "--json")
        result = json.loads(ran.out)["components"][0]
        held = json.dumps(result["parameters"], sort_keys=True)
        lines.append(f"{ours} {row['state']} {held}")
    nets.compare("components.txt", lines)
