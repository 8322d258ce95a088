"""XML as plain elements with their lines: no document type, no entities, nothing from elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from xml.parsers import expat

import attrs

from plausibly.errors import InputError, counted
from plausibly.io import files
from plausibly.io.delimited import not_text

_DEEPEST = 100


@attrs.define(kw_only=True, eq=False)
class Element:
    """One element of a file.

    Attributes
    ----------
    tag : str
        Its name.
    line : int
        The line on which it starts, counted from 1.
    attributes : dict of str to str
        As written, with the five references of XML resolved.
    text : str
        The characters directly inside it, without those of its children.
    children : list of Element
        The elements directly inside it, in order.
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


def read_xml(path: Path | str, role: str) -> Element:
    """Read an XML file in the encoding that it declares.

    Parameters
    ----------
    path : Path or str
        The file.
    role : str
        What it is for, in the words of messages, such as ``"annotations"``.

    Returns
    -------
    Element
        The outermost one.

    Raises
    ------
    InputError
        ``file-missing`` and its like, ``file-empty``, ``text-binary`` for an archive,
        ``xml-broken`` with the line, ``xml-doctype`` where it declares a document type, in which
        entities are defined, and ``xml-too-deep``.
    """
    whose = Path(path).name
    data = files.contents(path, role)
    if not data.strip():
        raise files.empty(whose, "an XML file")
    if data.startswith(b"PK\x03\x04"):
        raise not_text(whose, "a zip archive", "unpack it first")
    builder = _Builder(whose=whose)
    try:
        builder.parser.Parse(data, True)
    except expat.ExpatError as reason:
        raise _broken(whose, reason.lineno, expat.ErrorString(reason.code) or "") from None
    except InputError:  # a ValueError too
        raise
    except (LookupError, UnicodeError, ValueError) as reason:  # of an encoding that it declares
        raise _broken(whose, builder.line, " ".join(str(reason).split())[:80]) from None
    return builder.found[0]


def _broken(whose: str, line: int, got: str) -> InputError:
    return InputError(
        "xml-broken",
        f"{whose} line {counted(line)} is no XML",
        expected="one element, each tag closed, in the encoding that its first line declares",
        got=got,
        do="copy it again, or write it again",
        whose=whose,
        details={"line": line},
    )


@attrs.define(kw_only=True, eq=False)
class _Builder:
    """Puts elements together while expat reads; none of it calls itself, however deep a file is."""

    whose: str
    parser: expat.XMLParserType = attrs.field(factory=expat.ParserCreate)
    found: list[Element] = attrs.field(factory=list)
    open: list[Element] = attrs.field(factory=list)
    texts: list[list[str]] = attrs.field(factory=list)

    def __attrs_post_init__(self) -> None:
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.parser.CharacterDataHandler = self.characters
        self.parser.StartDoctypeDeclHandler = self.doctype

    @property
    def line(self) -> int:
        return self.parser.CurrentLineNumber

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        if len(self.open) == _DEEPEST:
            raise InputError(
                "xml-too-deep",
                f"{self.whose} line {counted(self.line)} is inside {_DEEPEST} elements",
                expected="fewer, one inside another",
                got=f"<{tag[:40]}>",
                do="write it again",
                whose=self.whose,
            )
        element = Element(tag=tag, line=self.line, attributes=attributes)
        (self.open[-1].children if self.open else self.found).append(element)
        self.open.append(element)
        self.texts.append([])

    def end(self, _: str) -> None:
        self.open.pop().text = "".join(self.texts.pop())

    def characters(self, text: str) -> None:
        self.texts[-1].append(text)

    def doctype(self, name: str, *_: object) -> None:
        raise InputError(
            "xml-doctype",
            f"{self.whose} line {counted(self.line)} declares a document type",
            expected="plain elements: entities are not resolved",
            got=f"<!DOCTYPE {name[:40]}",
            do="remove the declaration",
            whose=self.whose,
            details={"line": self.line},
        )
