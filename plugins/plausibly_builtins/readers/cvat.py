"""CVAT for images 1.1: the tags of images, one file a task or job."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

import attrs

from plausibly.plugin import (
    AnnotationTable,
    InputError,
    Response,
    ResponseOptions,
    XmlElement,
    counted,
    listed,
    quoted,
    read_xml,
    several,
    states,
)
from plausibly_builtins.readers._exports import (
    CONSOLIDATED,
    files_below,
    first_bytes,
    one_or_all,
    within,
)

_ROOT = re.compile(r"\ufeff?\s*(<\?xml[^>]*\?>\s*)?(<!--.*?-->\s*)*<annotations[\s>]", re.DOTALL)
_VERSION = re.compile(r"<version>\s*1\.1\s*</version>")
_SHAPES = ("box", "cuboid", "ellipse", "mask", "points", "polygon", "polyline", "skeleton")
_TAG_TYPES = ("", "any", "tag")
_UNTAGGED = "images without a tag (not annotated, or of no label)"
_UNATTRIBUTED = "tags without the attribute"


@attrs.frozen(kw_only=True)
class Cvat(ResponseOptions):
    """Read CVAT XML (``<annotations><version>1.1``): the tags of an image are one label set.

    A file does not say who annotated, and after quality control it is a result: its responses are
    those of the annotator ``consolidated``. In a folder every file is an annotator, called as the
    file, or, where all are called ``annotations.xml``, as the folder around it: so the replicas of
    a consensus job are put together. Tags that all come from a model (``source="auto"``) are a
    suggestion. Shapes say where something is: they are not read.

    Attributes
    ----------
    kind : {"label-set", "single-label"}
        ``"single-label"``: an image has one tag.
    annotator : str or None
        Who annotated the file, where that is known: then it holds votes.
    attribute : str or None
        Attribute of the tags whose value is the label, instead of the label of the tag.
    untagged : {"not-assigned", "empty"}
        What it means that an image has no tag, which the file does not say: no response (counted in
        the summary), or an empty answer.
    """

    kind: Literal["label-set", "single-label"] = "label-set"
    annotator: str | None = None
    attribute: str | None = None
    untagged: Literal["not-assigned", "empty"] = "not-assigned"

    def recognises(self, path: Path, head: bytes) -> bool:
        """Return whether the file, or the first XML file of a folder, starts as CVAT writes it."""
        return _starts_so(first_bytes(path, "*.xml") if path.is_dir() else head)

    def read(self, path: Path, labels: Sequence[str] | None) -> AnnotationTable:
        """Return the annotation table in the file, or in all files of a folder."""
        parts = list(self._parts(path))
        responses = [response for part in parts for response in part.responses]
        if not any(part.tags for part in parts):
            _check_tags(path.name, parts)
        if self.attribute is not None and not responses:
            raise _no_attribute(path.name, self.attribute, parts)
        left_out = Counter[str]()
        for part in parts:
            left_out.update(part.left_out)
        offered = list(dict.fromkeys(label for part in parts for label in part.offered))
        return self.gathered(
            self.kind,
            responses,
            labels,
            whose=path.name,
            examples=[name for part in parts for name in part.images],
            annotators=[part.annotator for part in parts],
            offered=offered if offered and self.attribute is None else None,
            left_out=left_out,
        )

    def _parts(self, path: Path) -> Iterator[_Part]:
        if not path.is_dir():
            named = self.annotator or CONSOLIDATED
            state = states.ANSWERED if self.annotator else states.CONSOLIDATED
            yield self._part(path, named, state, "")
            return
        if self.annotator is not None:
            raise InputError(
                "annotator-unfit",
                f"{path.name} is a folder, in which every file is an annotator",
                expected="an annotator for one file",
                got=quoted(self.annotator),
                do="leave annotator out, or name one of its files",
                whose=path.name,
            )
        for name, file in _annotators(path).items():
            with within(path, file):
                inside = file.relative_to(path).as_posix()
                part = self._part(file, name, states.ANSWERED, f"{inside} ")
            yield part

    def _part(self, path: Path, annotator: str, state: str, where: str) -> _Part:
        root = read_xml(path, "annotations")
        if root.tag != "annotations":
            raise InputError(
                "cvat-unlike",
                f"{path.name} holds no annotations of CVAT",
                expected="<annotations> around everything",
                got=f"<{root.tag[:40]}>",
                do="export as CVAT for images 1.1",
                whose=path.name,
            )
        part = _Part(annotator=annotator, offered=_offered(root), shapes=_shapes(root))
        for image in root.all("image"):
            name = image.attributes.get("name", "")
            place = f"{where}line {counted(image.line)}"
            if not name:
                raise InputError(
                    "image-unnamed",
                    f"{path.name} line {counted(image.line)} names no image",
                    expected="an attribute name",
                    got=listed(image.attributes) or "no attribute",
                    do="export it again",
                    whose=path.name,
                )
            part.images.append(name)
            self._image(
                part,
                image,
                Response(example=name, annotator=annotator, answer=None, state=state, place=place),
            )
        return part

    def _image(self, part: _Part, image: XmlElement, response: Response) -> None:
        """Add the response of an image to the part, or count why there is none."""
        tags = list(image.all("tag"))
        part.tags += len(tags)
        part.attributes.update(
            item.attributes.get("name", "") for tag in tags for item in tag.all("attribute")
        )
        said = [label for tag in tags for label in self._labels(tag)]
        if len(said) < len(tags) and self.attribute is not None:
            part.left_out[f"{_UNATTRIBUTED} {self.attribute}"] += len(tags) - len(said)
        if said:
            suggested = all(tag.attributes.get("source") == "auto" for tag in tags)
            part.responses.append(
                attrs.evolve(
                    response,
                    answer=one_or_all(self.kind, said),
                    state=states.SUGGESTION if suggested else response.state,
                )
            )
        elif not tags and self.untagged == "empty":
            part.responses.append(attrs.evolve(response, state=states.EMPTY))
        elif not tags:
            part.left_out[_UNTAGGED] += 1

    def _labels(self, tag: XmlElement) -> list[str]:
        if self.attribute is None:
            return [tag.attributes.get("label", "")]
        return [
            item.text
            for item in tag.all("attribute")
            if item.attributes.get("name") == self.attribute and item.text
        ]


@attrs.define(kw_only=True)
class _Part:
    """What one file holds."""

    annotator: str
    offered: list[str]
    shapes: Counter[str]
    images: list[str] = attrs.field(factory=list)
    responses: list[Response] = attrs.field(factory=list)
    left_out: Counter[str] = attrs.field(factory=Counter)
    attributes: set[str] = attrs.field(factory=set)
    tags: int = 0


def _starts_so(head: bytes) -> bool:
    encoding = "utf-16" if head.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8"
    text = head.decode(encoding, "ignore")
    return bool(_ROOT.match(text) and _VERSION.search(text))


def _annotators(folder: Path) -> dict[str, Path]:
    """Return the XML files of a folder by what their annotators are called."""
    found: dict[str, Path] = {}
    for file in files_below(folder, "*.xml"):
        inside = file.relative_to(folder)
        lone = inside.name == "annotations.xml" and len(inside.parts) > 1
        name = (inside.parent if lone else inside.with_suffix("")).as_posix()
        if name in found:
            raise InputError(
                "annotator-twice",
                f"{folder.name} has two files of the annotator {name}",
                expected="one file an annotator",
                got=listed(item.relative_to(folder).as_posix() for item in (found[name], file)),
                do="rename one of them",
                whose=folder.name,
            )
        found[name] = file
    if not found:
        raise InputError(
            "file-missing",
            f"{folder.name} holds no XML file",
            expected="one file an annotator",
            got="none",
            do="unpack the exports into it",
            whose=folder.name,
        )
    return found


def _offered(root: XmlElement) -> list[str]:
    """Return the labels that the file lists for tags: of a task, a job or a project."""
    found: list[str] = []
    for label in root.all("meta", "*", "labels", "label"):
        text = {child.tag: child.text.strip() for child in label.children}
        if text.get("type", "") in _TAG_TYPES and "parent" not in text and text.get("name"):
            found.append(text["name"])
    return found


def _shapes(root: XmlElement) -> Counter[str]:
    found = Counter(child.tag for image in root.all("image") for child in image.children)
    found.update(child.tag for child in root.children)
    return Counter({tag: found[tag] for tag in (*_SHAPES, "track") if found[tag]})


def _check_tags(whose: str, parts: Sequence[_Part]) -> None:
    shapes = Counter[str]()
    for part in parts:
        shapes.update(part.shapes)
    if shapes:
        raise InputError(
            "tags-missing",
            f"{whose} holds {several(shapes.total(), 'shape')} and no tag",
            expected="tags, which say what an image shows; shapes say where something is",
            got=listed(f"{counted(number)} {tag}" for tag, number in shapes.items()),
            do="export a task in which images are tagged",
            whose=whose,
            details={"shapes": dict(shapes)},
        )


def _no_attribute(whose: str, attribute: str, parts: Sequence[_Part]) -> InputError:
    seen = sorted(set().union(*(part.attributes for part in parts)))
    choice = f'--reader \'{{name = "cvat", attribute = "{seen[0]}"}}\'' if seen else ""
    return InputError(
        "attribute-missing",
        f"{whose}: no tag has the attribute {quoted(attribute)}",
        expected="an attribute of the tags",
        got=listed(map(quoted, seen)) or "tags without attributes",
        do=choice or "leave attribute out",
        whose=whose,
        details={"attributes": seen},
    )
