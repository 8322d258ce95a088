"""XML as plain elements with their lines: no document type, no entities, nothing from elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from xml.parsers import expat

import attrs

from plausibly.errors import InputError, counted
from plausibly.io import files
from plausibly.io.files import ZIP, not_text

_DEEPEST = 100


@attrs.define(kw_only=True, eq=False)
class Element:
    """Element of a file.

    Attributes
    ----------
    tag : str
    line : int
        Line on which it starts, counted from 1.
    attributes : dict of str to str
    text : str
        Characters directly inside it, without those of its children.
    children : list of Element
        In order.
    """

    tag: str
    line: int
    attributes: dict[str, str]
    text: str = ""
    children: list[Element] = attrs.field(factory=list)

    def all(self, *path: str) -> Iterator[Element]:
        """Yield the elements at the end of a path of tags below this one; ``"*"`` is any."""
        if not path:
            yield self
            return
        for child in self.children:
            if path[0] in ("*", child.tag):
                yield from child.all(*path[1:])


def read_xml(path: Path | str, role: str, *, source: str | None = None) -> Element:
    """Return the outermost element of an XML file, in the encoding that it declares.

    Parameters
    ----------
    path : Path or str
    role : str
        Purpose of the file for messages, such as ``"annotations"``.
    source : str, optional
        Name of the file for messages.
    """
    source = source or Path(path).name
    data = files.opening(path, role, -1)
    if not data.strip():
        raise files.empty(source, "an XML file")
    if data.startswith(ZIP):
        raise not_text(source, "a zip archive", "unpack it first")
    root = Element(tag="", line=0, attributes={})
    within = [root]  # elements that are open
    texts: list[list[str]] = [[]]
    parser = expat.ParserCreate()
    parser.buffer_text = True

    def broken(what: str, expected: str, found: str) -> InputError:
        return InputError(
            "xml-broken",
            f"{source} line {counted(parser.CurrentLineNumber)} {what}",
            expected=expected,
            found=found,
            hint="copy it again, or write it again",
            source=source,
        )

    def start(tag: str, attributes: dict[str, str]) -> None:
        if len(within) > _DEEPEST:
            raise broken("is nested too deep", f"at most {_DEEPEST} elements", f"<{tag[:40]}>")
        element = Element(tag=tag, line=parser.CurrentLineNumber, attributes=attributes)
        within[-1].children.append(element)
        within.append(element)
        texts.append([])

    def end(_: str) -> None:
        within.pop().text = "".join(texts.pop())

    def doctype(name: str, *_: object) -> None:
        expected = "plain elements: entities are not resolved"
        raise broken("declares a document type", expected, f"<!DOCTYPE {name[:40]}")

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = lambda text: texts[-1].append(text)
    parser.StartDoctypeDeclHandler = doctype
    try:
        parser.Parse(data, True)
    except InputError:  # a ValueError too
        raise
    # The latter are of an encoding that it declares.
    except (expat.ExpatError, LookupError, UnicodeError, ValueError) as reason:
        expected = "one element, each tag closed, in the encoding that its first line declares"
        raise broken("is no XML", expected, " ".join(str(reason).split())[:80]) from None
    return root.children[0]
