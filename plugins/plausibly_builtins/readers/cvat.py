"""CVAT for images 1.1: the tags of images, one file per task or job."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import attrs

from plausibly.plugin import counted, listed, quoted, several
from plausibly.plugin.readers import Response, XmlElement, read_xml, states
from plausibly_builtins.readers.base import (
    CONSOLIDATED,
    Content,
    Export,
    Kind,
    Unlabelled,
    about,
    as_typed,
    check_annotator,
    files_below,
    first_bytes,
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
class Cvat(Export):
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

    kind: Kind = "label-set"
    annotator: str | None = None
    attribute: str | None = None
    untagged: Unlabelled = "not-assigned"

    def recognises(self, path: Path, head: bytes) -> bool:
        """Return whether the file, or the first XML file of a folder, starts as CVAT writes it."""
        start = first_bytes(path, "*.xml") if path.is_dir() else head
        encoding = "utf-16" if start.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8"
        text = start.decode(encoding, "ignore")
        return bool(_ROOT.match(text) and _VERSION.search(text))

    def content(self, path: Path, labels: Sequence[str] | None) -> Content:
        """Return the tags in the file, or in all files of a folder."""
        found = _Found()
        if path.is_dir():
            self._read_folder(path, found)
        else:
            state = states.ANSWERED if self.annotator else states.CONSOLIDATED
            self._read_file(path, found, self.annotator or CONSOLIDATED, state, "")
        if found.shapes and not found.tags:
            shapes = dict(found.shapes)
            what = f" holds {several(found.shapes.total(), 'shape')} and no tag"
            expected = "tags, which say what an image shows; shapes say where something is"
            got = listed(f"{counted(number)} {tag}" for tag, number in shapes.items())
            do = "export a task in which images are tagged"
            raise refused("tags-missing", what, expected, got, do, shapes=shapes)
        if self.attribute is not None and not found.responses:
            seen = sorted(found.attributes)
            do = as_typed("cvat", f'attribute = "{seen[0]}"') if seen else "leave attribute out"
            got = listed(map(quoted, seen)) or "tags without attributes"
            what = f": no tag has the attribute {quoted(self.attribute)}"
            expected = "an attribute of the tags"
            raise refused("attribute-missing", what, expected, got, do, attributes=seen)
        return Content(
            kind=self.kind,
            responses=found.responses,
            examples=found.images,
            annotators=found.annotators,
            offered=list(found.offered) if found.offered and self.attribute is None else None,
            left_out=found.left_out,
        )

    def _read_folder(self, folder: Path, found: _Found) -> None:
        """Add what the XML files of a folder hold, each of an annotator."""
        check_annotator(self.annotator, "is a folder, in which every file is an annotator")
        expected = "one file per annotator"
        files: dict[str, Path] = {}
        for file in files_below(folder, "*.xml"):
            inside = file.relative_to(folder)
            lone = inside.name == "annotations.xml" and len(inside.parts) > 1
            name = (inside.parent if lone else inside.with_suffix("")).as_posix()
            if name in files:
                got = listed(item.relative_to(folder).as_posix() for item in (files[name], file))
                what = f" has two files of the annotator {name}"
                raise refused("annotator-twice", what, expected, got, "rename one of them")
            files[name] = file
        if not files:
            do = "unpack the exports into it"
            raise refused("file-missing", " holds no XML file", expected, "none", do)
        for name, file in files.items():
            with within(folder, file), about(file.name):
                where = f"{file.relative_to(folder).as_posix()} "
                self._read_file(file, found, name, states.ANSWERED, where)

    def _read_file(self, path: Path, found: _Found, annotator: str, state: str, where: str) -> None:
        """Add the responses of a file, or count why there are none."""
        root = read_xml(path, "annotations")
        if root.tag != "annotations":
            what, expected = " holds no annotations of CVAT", "<annotations> around everything"
            got, do = f"<{root.tag[:40]}>", "export as CVAT for images 1.1"
            raise refused("cvat-unlike", what, expected, got, do)
        found.annotators.append(annotator)
        for label in root.all("meta", "*", "labels", "label"):
            text = {child.tag: child.text.strip() for child in label.children}
            if text.get("type", "") in _TAG_TYPES and "parent" not in text and text.get("name"):
                found.offered[text["name"]] = None
        shapes = Counter(child.tag for child in (*root.all("image", "*"), *root.children))
        found.shapes.update({tag: shapes[tag] for tag in _SHAPES if shapes[tag]})
        for image in root.all("image"):
            name = image.attributes.get("name", "")
            line = f"line {counted(image.line)}"
            if not name:
                got = listed(image.attributes) or "no attribute"
                what, expected = f" {line} names no image", "an attribute name"
                raise refused("image-unnamed", what, expected, got, "export it again")
            found.images.append(name)
            tags = list(image.all("tag"))
            found.tags += len(tags)
            names = (item.attributes.get("name", "") for item in image.all("tag", "attribute"))
            found.attributes.update(names)
            labels = [label for tag in tags for label in self._labels(tag)]
            if self.attribute is not None:
                reason = f"tags without the attribute {self.attribute}"
                found.left_out[reason] += max(len(tags) - len(labels), 0)
            if not labels and (tags or self.untagged == "not-assigned"):
                reason = "images without a tag (not annotated, or of no label)"
                found.left_out[reason] += not tags
                continue
            suggested = all(tag.attributes.get("source") == "auto" for tag in tags)
            of = states.SUGGESTION if suggested else state
            found.responses.append(
                Response(
                    example=name,
                    annotator=annotator,
                    answer=labels if labels else None,
                    state=of if labels else states.EMPTY,
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
