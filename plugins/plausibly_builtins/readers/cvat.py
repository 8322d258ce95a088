"""CVAT for images 1.1: the tags of images, one file a task or job."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import attrs

from plausibly.plugin import (
    AnnotationTable,
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
    about,
    as_typed,
    files_below,
    first_bytes,
    one_or_all,
    refused,
    within,
)

_ROOT = re.compile(r"\ufeff?\s*(<\?xml[^>]*\?>\s*)?(<!--.*?-->\s*)*<annotations[\s>]", re.DOTALL)
_VERSION = re.compile(r"<version>\s*1\.1\s*</version>")
_SHAPES = ("box", "cuboid", "ellipse", "mask", "points", "polygon", "polyline", "skeleton", "track")
_TAG_TYPES = ("", "any", "tag")


@attrs.define(kw_only=True)
class _Found:
    """What the files hold."""

    annotators: list[str] = attrs.field(factory=list)
    offered: dict[str, None] = attrs.field(factory=dict)
    shapes: Counter[str] = attrs.field(factory=Counter)
    images: list[str] = attrs.field(factory=list)
    responses: list[Response] = attrs.field(factory=list)
    left_out: Counter[str] = attrs.field(factory=Counter)
    attributes: set[str] = attrs.field(factory=set)
    tags: int = 0


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
        with about(path.name):
            found = _Found()
            if path.is_dir():
                self._read_folder(path, found)
            else:
                state = states.ANSWERED if self.annotator else states.CONSOLIDATED
                self._read_file(path, found, self.annotator or CONSOLIDATED, state, "")
            shapes = {tag: found.shapes[tag] for tag in found.shapes}
            if shapes and not found.tags:
                raise refused(
                    "tags-missing",
                    f" holds {several(found.shapes.total(), 'shape')} and no tag",
                    "tags, which say what an image shows; shapes say where something is",
                    listed(f"{counted(number)} {tag}" for tag, number in shapes.items()),
                    "export a task in which images are tagged",
                    shapes=shapes,
                )
            if self.attribute is not None and not found.responses:
                seen = sorted(found.attributes)
                choice = as_typed("cvat", f'attribute = "{seen[0]}"') if seen else ""
                raise refused(
                    "attribute-missing",
                    f": no tag has the attribute {quoted(self.attribute)}",
                    "an attribute of the tags",
                    listed(map(quoted, seen)) or "tags without attributes",
                    choice or "leave attribute out",
                    attributes=seen,
                )
        return self.gathered(
            self.kind,
            found.responses,
            labels,
            whose=path.name,
            examples=found.images,
            annotators=found.annotators,
            offered=list(found.offered) if found.offered and self.attribute is None else None,
            left_out=found.left_out,
        )

    def _read_folder(self, folder: Path, found: _Found) -> None:
        """Add what the XML files of a folder hold, each of an annotator."""
        if self.annotator is not None:
            raise refused(
                "annotator-unfit",
                " is a folder, in which every file is an annotator",
                "an annotator for one file",
                quoted(self.annotator),
                "leave annotator out, or name one of its files",
            )
        files: dict[str, Path] = {}
        for file in files_below(folder, "*.xml"):
            inside = file.relative_to(folder)
            lone = inside.name == "annotations.xml" and len(inside.parts) > 1
            name = (inside.parent if lone else inside.with_suffix("")).as_posix()
            if name in files:
                both = (item.relative_to(folder).as_posix() for item in (files[name], file))
                raise refused(
                    "annotator-twice",
                    f" has two files of the annotator {name}",
                    "one file an annotator",
                    listed(both),
                    "rename one of them",
                )
            files[name] = file
        if not files:
            raise refused(
                "file-missing",
                " holds no XML file",
                "one file an annotator",
                "none",
                "unpack the exports into it",
            )
        for name, file in files.items():
            with within(folder, file), about(file.name):
                where = f"{file.relative_to(folder).as_posix()} "
                self._read_file(file, found, name, states.ANSWERED, where)

    def _read_file(self, path: Path, found: _Found, annotator: str, state: str, where: str) -> None:
        """Add the responses of a file, or count why there are none."""
        root = read_xml(path, "annotations")
        if root.tag != "annotations":
            raise refused(
                "cvat-unlike",
                " holds no annotations of CVAT",
                "<annotations> around everything",
                f"<{root.tag[:40]}>",
                "export as CVAT for images 1.1",
            )
        found.annotators.append(annotator)
        for label in root.all("meta", "*", "labels", "label"):
            text = {child.tag: child.text.strip() for child in label.children}
            if text.get("type", "") in _TAG_TYPES and "parent" not in text and text.get("name"):
                found.offered[text["name"]] = None
        around = [*root.all("image", "*"), *root.children]
        shapes = Counter(child.tag for child in around)
        found.shapes.update({tag: shapes[tag] for tag in _SHAPES if shapes[tag]})
        for image in root.all("image"):
            name = image.attributes.get("name", "")
            line = f"line {counted(image.line)}"
            if not name:
                raise refused(
                    "image-unnamed",
                    f" {line} names no image",
                    "an attribute name",
                    listed(image.attributes) or "no attribute",
                    "export it again",
                )
            found.images.append(name)
            tags = list(image.all("tag"))
            found.tags += len(tags)
            attributes = [item.attributes.get("name", "") for item in image.all("tag", "attribute")]
            found.attributes.update(attributes)
            said = [label for tag in tags for label in self._labels(tag)]
            if len(said) < len(tags) and self.attribute is not None:
                reason = f"tags without the attribute {self.attribute}"
                found.left_out[reason] += len(tags) - len(said)
            if not said and (tags or self.untagged == "not-assigned"):
                reason = "images without a tag (not annotated, or of no label)"
                found.left_out[reason] += not tags
                continue
            suggested = all(tag.attributes.get("source") == "auto" for tag in tags)
            of = states.SUGGESTION if suggested else state
            found.responses.append(
                Response(
                    example=name,
                    annotator=annotator,
                    answer=one_or_all(self.kind, said) if said else None,
                    state=of if said else states.EMPTY,
                    place=f"{where}{line}",
                )
            )

    def _labels(self, tag: XmlElement) -> list[str]:
        if self.attribute is None:
            return [tag.attributes.get("label", "")]
        return [
            item.text
            for item in tag.all("attribute")
            if item.attributes.get("name") == self.attribute and item.text
        ]


def _starts_so(head: bytes) -> bool:
    encoding = "utf-16" if head.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8"
    text = head.decode(encoding, "ignore")
    return bool(_ROOT.match(text) and _VERSION.search(text))
