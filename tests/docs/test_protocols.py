"""The pages for authors say everything that the code asks of them, as it stands there."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator

import pytest

import cut_docs
from cut_docs import PAGES
from plausibly import plugin, testing
from plausibly.plugin import readers
from plausibly.protocols import KINDS
from plausibly.registry import Registrar, Registry, discovery
from plausibly.registry.conformance import members

PAGE = {path.stem: cut_docs.page(path.name) for path in sorted(PAGES.glob("*.md"))}
OF_KIND = {
    **dict.fromkeys(("annotation", "reader"), PAGE["format"]),
    **dict.fromkeys(("score", "calibrator", "combiner"), PAGE["methods"]),
    "aggregator": PAGE["aggregator"],
}
KIND_NAMES = [kind.name for kind in KINDS]


class Written(str):
    """An annotation that prints as it was written."""

    def __repr__(self) -> str:
        return str(self)


def signature(function: Callable[..., object]) -> str:
    """Return a signature as it is written, its annotations without quotation marks."""
    found = inspect.signature(function)
    parameters = [
        p.replace(annotation=Written(p.annotation)) if p.annotation is not p.empty else p
        for p in found.parameters.values()
    ]
    returned = Written(found.return_annotation)
    text = str(found.replace(parameters=parameters, return_annotation=returned))
    return text.replace("''", '""')


def joined(page: str) -> str:
    """Return a page with every signature on one line."""
    return re.sub(r",?\s*\n\s*(?=\))", "", re.sub(r"\(\n\s+", "(", page)).replace(",\n    ", ", ")


def declared(kind: str) -> Iterator[tuple[str, str]]:
    """Yield name and signature of each member of a Protocol."""
    (protocol,) = (one.protocol for one in KINDS if one.name == kind)
    for name, member in members(protocol).items():
        function = member.fget if isinstance(member, property) else member
        assert inspect.isfunction(function)
        yield name, signature(function)


@pytest.mark.parametrize("kind", KIND_NAMES)
def test_every_member_stands_on_its_page_with_its_signature(kind: str) -> None:
    found = list(declared(kind))
    assert found
    for name, text in found:
        assert f"def {name}{text}:" in joined(OF_KIND[kind]), f"{kind}: {name}{text}"
        assert f"| `{name}` |" in OF_KIND[kind], f"{kind}: the duty of {name}"


def specified() -> list[Callable[..., object]]:
    """Return every function that pluggy knows as the specification of a hook."""
    found = [
        value for value in vars(discovery).values() if hasattr(value, f"{discovery.GROUP}_spec")
    ]
    assert all(inspect.isfunction(value) for value in found)
    return found


def test_every_hook_is_documented_with_its_signature() -> None:
    (hook,) = specified()
    assert hook.__name__ == discovery.HOOK
    assert f"def {hook.__name__}{signature(hook)}:" in PAGE["plugins"]


def test_what_a_hook_is_handed_is_documented() -> None:
    public = [name for name in vars(Registrar) if not name.startswith("_")]
    methods = [name for name in public if inspect.isfunction(getattr(Registrar, name, None))]
    assert methods == ["add"]
    text = signature(Registrar.add)
    assert f"def add{text}:" in joined(PAGE["plugins"]), text


@pytest.mark.parametrize("kind", KIND_NAMES)
def test_every_rule_of_the_kit_stands_on_its_page(kind: str) -> None:
    rows = re.findall(r"^\| `([a-z0-9-]+)` \| (.+) \|$", OF_KIND[kind], re.MULTILINE)
    for rule in testing.rules(kind):
        assert (rule.name, rule.sentence) in rows


@pytest.mark.parametrize("kind", KIND_NAMES)
def test_every_component_that_comes_with_plausibly_is_known(kind: str) -> None:
    found = [e for e in Registry(others=tuple).entries() if e.kind == kind]
    assert found
    for entry in found:
        row = f"| `{entry.name}` | `{entry.source.plugin}` | {entry.summary} |"
        assert row in OF_KIND[kind]


@pytest.mark.parametrize("page", PAGE)
def test_every_mark_is_filled(page: str) -> None:
    assert len(cut_docs.marks(PAGE[page])) == PAGE[page].count("<!-- cut: ")


@pytest.mark.parametrize("kind", KIND_NAMES)
def test_a_page_has_all_its_parts(kind: str) -> None:
    marks = cut_docs.marks(OF_KIND[kind])
    assert {("protocol", kind), ("rules", kind), ("components", kind)} <= set(marks)
    name = next(name for name, of in cut_docs.NEW.items() if of == kind)
    module = name.replace("-", "_")
    assert ("file", f"{name}/{module}/{kind}.py") in marks
    assert ("file", f"{name}/tests/test_kit.py") in marks
    assert f"`plausibly plugins new {name} --kind {kind}`" in OF_KIND[kind]


def test_what_an_author_can_import_is_listed() -> None:
    table = PAGE["index"].partition("## What `plausibly.plugin` offers")[2]
    listed = set(re.findall(r"`(\w+)`", table))
    protocols = {kind.protocol.__name__ for kind in KINDS}
    assert {*dir(plugin), *dir(readers)} - listed == protocols
