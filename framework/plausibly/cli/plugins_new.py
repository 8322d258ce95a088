"""``plausibly plugins new``: a distribution, tested and typed, with a component that works."""

from __future__ import annotations

import builtins
import keyword
import re
import shlex
import sys
from collections.abc import Mapping
from importlib.machinery import PathFinder
from importlib.metadata import version
from io import StringIO
from pathlib import Path
from string import Template
from tokenize import NAME, generate_tokens
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

import typer

from plausibly.atomic import replacing
from plausibly.cli import layout
from plausibly.cli.output import DryRun, Output, check_free, show_dry_run
from plausibly.errors import InputError

if TYPE_CHECKING:
    from plausibly.registry import Registry

Kind: TypeAlias = Literal["annotation", "reader", "aggregator", "score", "calibrator", "combiner"]

LONGEST = 30  # characters of a name: with more, lines of the templates would pass 100 columns

_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_TAKEN = frozenset(
    ("plausibly", "plausibly-builtins", "plausibly-plugin", "build", "dist", "docs", "tests")
)
_TEMPLATES = Path(__file__).parents[1] / "templates"
_SUFFIX = ".txt"


def new(
    output: Output,
    *,
    name: Annotated[
        str,
        typer.Argument(metavar="NAME", help="Of the distribution, the plugin and the component."),
    ],
    kind: Annotated[Kind, typer.Option("--kind", metavar="KIND", help="Such as aggregator.")],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FOLDER", help="Folder to write [default: NAME]."),
    ] = None,
    dry_run: DryRun = False,
) -> None:
    """Write a new plugin: a distribution with a component that works, tests and types.

    plausibly plugins new thesis-pl --kind aggregator
    plausibly plugins new pairs --kind annotation -o ~/code/pairs
    """
    from plausibly.errors import an
    from plausibly.registry import default

    check_name(name, kind, default())
    place = Path(name) if out is None else out
    texts = rendered(name, kind)
    check_free(place, "-o another-folder, or another name")
    output.document |= {"name": name, "kind": kind, "folder": str(place), "files": [*texts]}
    rows: list[layout.Row] = [(f"{place}/", " ".join(texts))]
    if dry_run:
        would = f"write {an(kind)} that works, with its tests"
        show_dry_run(output, read={}, rows=rows, would=would, write=[place])
        return
    write(name, kind, place)
    install = f"cd {shlex.quote(str(place))}; pip install -e ."
    output.rows([*rows, ("next", [install, "python -m pytest; plausibly plugins check"])])


def check_name(name: str, kind: str, registry: Registry) -> None:
    from plausibly.registry.entries import normalised

    module = name.replace("-", "_")
    ours = {normalised(source.plugin) for source in registry.plugins() if source.builtin}
    ours |= {entry.name for entry in registry.entries() if entry.source.builtin}
    valid = _NAME.fullmatch(name) and len(name) <= LONGEST and not keyword.iskeyword(module)
    spec = PathFinder.find_spec(module) if valid else None
    # A folder without code, such as one in the current folder, is no module.
    installed = spec is not None and spec.loader is not None and spec.origin is not None
    taken = installed or name in ours | _TAKEN or module in sys.stdlib_module_names
    if taken or not valid:
        plain = re.sub(r"[^a-z0-9]+", "-", name.lower())[: LONGEST - 3].strip("-") or "plugin"
        raise InputError(
            "plugin-name",
            f'a plugin cannot be called "{name}"',
            expected=f"lower-case letters, digits and single hyphens, a letter first, at most "
            f"{LONGEST}; no word of Python, and no name of plausibly or an installed module",
            found=f'"{name}", with the module {module}',
            hint=f"plausibly plugins new my-{plain} --kind {kind}",
            source=name,
        )


def write(name: str, kind: str, place: Path) -> None:
    with replacing(place) as part:
        for path, text in rendered(name, kind).items():
            target = part / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8", newline="\n")


def rendered(name: str, kind: str) -> dict[str, str]:
    """Return the text of every file of a new plugin, by its path."""
    from plausibly.errors import an

    module = name.replace("-", "_")
    texts = {"package/py.typed": ""}
    for folder in (_TEMPLATES / "common", _TEMPLATES / kind):
        for file in folder.rglob(f"*{_SUFFIX}"):
            path = file.relative_to(folder).as_posix().removesuffix(_SUFFIX)
            texts[path] = file.read_text(encoding="utf-8")
    values: Mapping[str, str] = {
        "name": name,
        "module": module,
        "component": _component(name, kind, texts),
        "summary": f"{an(kind).capitalize()} for plausibly.",
        "version": version("plausibly"),
    }
    # The two that explain the plugin come first, its tests last.
    paths = sorted(texts, key=lambda path: (path.startswith("tests/"), "/" in path, path.lower()))
    return {
        path.replace("package/", f"{module}/", 1): Template(texts[path]).substitute(values)
        for path in paths
    }


def _component(name: str, kind: str, texts: Mapping[str, str]) -> str:
    """Return the name of the component's class, which must not hide another in its modules."""
    words = "".join(word.capitalize() for word in name.split("-"))
    used = {*dir(builtins), *keyword.kwlist}
    for path, text in texts.items():
        if path.endswith(".py"):
            lines = StringIO(text.replace("$", "")).readline
            used |= {token.string for token in generate_tokens(lines) if token.type == NAME}
    return f"{words}{kind.capitalize()}" if words in used else words
