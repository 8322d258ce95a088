"""CVAT for images 1.1: the tags of images, one file per task or job."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import attrs

from plausibly.plugin import AnnotationTable, counted, listed
from plausibly.plugin.readers import Response, XmlElement, read_xml, states
from plausibly_builtins.readers import base

_ROOT = re.compile(r"\ufeff?\s*(<\?xml[^>]*\?>\s*)?(<!--.*?-->\s*)*<annotations[\s>]", re.DOTALL)
_VERSION = re.compile(r"<version>\s*1\.1\s*</version>")
_SHAPES = ("box", "cuboid", "ellipse", "mask", "points", "polygon", "polyline", "skeleton", "track")
_TAG_TYPES = ("", "any", "tag")


@attrs.frozen(kw_only=True)
class Cvat(base.Export):
    """Read CVAT XML (``<annotations><version>1.1``): the tags of an image are one label set.

    A file does not say who annotated, and after quality control it is a result: its responses are
    those of the annotator ``consolidated``. In a folder every file is an annotator, called as the
    file, or, where all are called ``annotations.xml``, as the folder around it. Tags that all come
    from a model (``source="auto"``) are a suggestion. Shapes are not read.

    Attributes
    ----------
    kind : {"label-set", "single-label"}
        ``"single-label"``: an image has one tag.
    annotator : str or None
        Who annotated the file, where that is known: then it holds votes.
    attribute : str or None
        Attribute of the tags whose value is the label, instead of the label of the tag.
    untagged : {"not-assigned", "empty"}
        What it means that an image has no tag: no response (counted), or an empty answer.
    """

    kind: base.Kind = "label-set"
    annotator: str | None = None
    attribute: str | None = None
    untagged: base.Unlabelled = "not-assigned"

    def recognises(self, path: Path, head: bytes) -> bool:
        """Return whether the file, or the first XML file of a folder, starts as CVAT writes it."""
        start = base.first_bytes(path, "*.xml") if path.is_dir() else head
        encoding = "utf-16" if start.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8"
        text = start.decode(encoding, "ignore")
        return bool(_ROOT.match(text) and _VERSION.search(text))

    def content(self, path: Path, labels: base.Labels) -> AnnotationTable:
        files = {self.annotator or base.CONSOLIDATED: path}
        state = states.ANSWERED if self.annotator else states.CONSOLIDATED
        if path.is_dir():
            files, state = self._by_annotator(path), states.ANSWERED
        images: list[str] = []
        responses: list[Response] = []
        offered: dict[str, None] = {}
        shapes, left_out = Counter[str](), Counter[str]()
        tags: list[XmlElement] = []
        for annotator, file in files.items():
            inside = file.relative_to(path).as_posix() if path.is_dir() else ""
            source = f"{path.name}/{inside}".rstrip("/")
            with base.about(source):
                root = read_xml(file, "annotations", source=source)
                if root.tag != "annotations":
                    expected = "<annotations>, of CVAT for images 1.1"
                    raise base.unlike("as a whole", expected, found=f"<{root.tag[:40]}>")
                for label in root.all("meta", "*", "labels", "label"):
                    text = {child.tag: child.text.strip() for child in label.children}
                    is_own = text.get("type", "") in _TAG_TYPES and "parent" not in text
                    if is_own and text.get("name"):
                        offered[text["name"]] = None
                elements = (*root.all("image", "*"), *root.children)
                shapes.update(element.tag for element in elements if element.tag in _SHAPES)
                for image in root.all("image"):
                    place = f"line {counted(image.line)}"
                    name = image.attributes.get("name", "")
                    if not name:
                        found = listed(image.attributes) or "no attribute"
                        raise base.unlike(place, "an attribute name", found=found)
                    images.append(name)
                    tags += image.all("tag")
                    response = Response(
                        example=name,
                        annotator=annotator,
                        answer=None,
                        state=state,
                        place=f"{inside} {place}".lstrip(),
                    )
                    responses += self._answered(response, image, left_out)
        if shapes and not tags:
            expected = "tags, which say what an image shows; shapes say where something is"
            found = listed(f"{counted(number)} {tag}" for tag, number in shapes.items())
            raise base.refused("tags-missing", " holds shapes and no tag", expected, found)
        if self.attribute is not None and not responses:
            inner = (item for tag in tags for item in tag.all("attribute"))
            seen = sorted({item.attributes.get("name", "") for item in inner})
            base.choose("cvat", "attribute", "attributes of tags", seen, self.attribute)
        return self.gathered(
            self.kind,
            responses,
            labels,
            source=path.name,
            examples=images,
            annotators=files,
            offered=list(offered) if offered and self.attribute is None else None,
            left_out=left_out,
        )

    def _by_annotator(self, folder: Path) -> dict[str, Path]:
        base.check_annotator(self.annotator, "is a folder, in which every file is an annotator")
        expected = "one file per annotator"
        files: dict[str, Path] = {}
        for file in base.files_below(folder, "*.xml"):
            inside = file.relative_to(folder)
            lone = inside.name == "annotations.xml" and len(inside.parts) > 1
            name = (inside.parent if lone else inside.with_suffix("")).as_posix()
            if name in files:
                found = listed(item.relative_to(folder).as_posix() for item in (files[name], file))
                what = f" has two files of the annotator {name}"
                raise base.refused("annotator-twice", what, expected, found, "rename one of them")
            files[name] = file
        if not files:
            raise base.refused("file-missing", " holds no XML file", expected, "none")
        return files

    def _answered(
        self, response: Response, image: XmlElement, left_out: Counter[str]
    ) -> list[Response]:
        """Return the response with the labels of an image; none where it has no response."""
        tags = list(image.all("tag"))
        labels = [tag.attributes.get("label", "") for tag in tags]
        if self.attribute is not None:
            inner = image.all("tag", "attribute")
            wanted = (item for item in inner if item.attributes.get("name") == self.attribute)
            labels = [item.text for item in wanted if item.text]
            without = f"tags without the attribute {self.attribute}"
            left_out[without] += max(len(tags) - len(labels), 0)
        if labels:
            suggested = all(tag.attributes.get("source") == "auto" for tag in tags)
            state = states.SUGGESTION if suggested else response.state
            return [attrs.evolve(response, answer=labels, state=state)]
        if not tags and self.untagged == "empty":
            return [attrs.evolve(response, state=states.EMPTY)]
        left_out["images without a tag (not annotated, or of no label)"] += not tags
        return []
