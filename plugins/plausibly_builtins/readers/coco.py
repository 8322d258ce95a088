"""COCO: the categories of images, as the format has them for whole images."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

import attrs

from plausibly.plugin import AnnotationTable, counted, listed
from plausibly.plugin.readers import Response, json_head, read_json, states
from plausibly_builtins.readers import base

_LISTS = ("images", "categories", "annotations")
_OTHERS = frozenset({"info", "licenses"})
_WHERE = ("bbox", "segmentation", "keypoints", "segments_info")


@attrs.frozen(kw_only=True)
class Coco(base.Export):
    """Read COCO JSON whose annotations are of whole images: ``image_id`` and ``category_id``.

    All categories of an image are one label set. The format has no annotators: responses are those
    of the annotator ``consolidated``, unless annotations have a key ``annotator``. Annotations that
    say where something is (``bbox``, ``segmentation``, …) are refused unless `instances` says what
    they mean.

    Attributes
    ----------
    kind : {"label-set", "single-label"}
        ``"single-label"``: an image has one category.
    annotator : str or None
        Who annotated the file, where that is known: then it holds votes.
    example : {"file_name", "id"}
        What an image is called by.
    instances : bool
        Whether an instance means that its image shows the category.
    unlabelled : {"not-assigned", "empty"}
        What it means that an image has no annotation: no response (counted), or an empty answer.
    """

    kind: base.Kind = "label-set"
    annotator: str | None = None
    example: Literal["file_name", "id"] = "file_name"
    instances: bool = False
    unlabelled: base.Unlabelled = "not-assigned"

    def recognises(self, path: Path, head: bytes) -> bool:
        """Return whether the file is an object with the three lists, as far as it is shown."""
        values = json_head(head)
        document = base.entry_of(values[0]) if len(values) == 1 else {}
        seen = [document[key] for key in _LISTS if key in document]
        if not all(isinstance(value, list) for value in seen):
            return False
        # In a long file the other lists come later.
        is_long = len(head) >= 32_768 and set(document) <= {*_LISTS, *_OTHERS}
        return len(seen) == len(_LISTS) or (bool(seen) and is_long)

    def content(self, path: Path, labels: base.Labels) -> AnnotationTable:
        expected = f"an object with {listed(_LISTS)}"
        document = base.as_object(read_json(path, expected=expected), ".", expected)
        lists: dict[str, Sequence[base.Entry]] = {}
        for key in _LISTS:
            if not isinstance(document.get(key), list):
                raise base.unlike(f".{key}", "a list", found=base.shown(document, key))
            lists[key] = base.objects(document[key], f".{key}", "a list")
        categories = _named(lists["categories"], "category", "name")
        images = _named(lists["images"], "image", self.example)
        annotations = lists["annotations"]
        keys = [key for key in _WHERE if any(entry.get(key) for entry in annotations)]
        if keys and not self.instances:
            what, expected = " says where something is in its images", "annotations of whole images"
            more = ", if an instance means that its image shows the category"
            raise base.needed("coco", what, expected, listed(keys), more, instances=True)
        named = any(entry.get("annotator") is not None for entry in annotations)
        if named:
            base.check_annotator(self.annotator, "names its annotators")
        alone = self.annotator or base.CONSOLIDATED
        labels_of: dict[tuple[str, str | None], dict[str, str]] = {}
        for at, entry in enumerate(annotations):
            place = f".annotations[{at}]"
            image = _known(entry, "image_id", images, place)
            label = categories[_known(entry, "category_id", categories, place)]
            who = entry.get("annotator") if named else alone
            if who is not None and not isinstance(who, str):
                raise base.unlike(f"{place}.annotator", "a text or number", who)
            labels_of.setdefault((image, base.text_of(who)), {}).setdefault(label, place)
        responses = [
            Response(
                example=images[image],
                annotator=annotator,
                answer=list(places),
                state=states.CONSOLIDATED if annotator == base.CONSOLIDATED else states.ANSWERED,
                place=next(iter(places.values())),
            )
            for (image, annotator), places in labels_of.items()
        ]
        answered = {image for image, _ in labels_of}
        without = [name for key, name in images.items() if key not in answered]
        unassigned = len(without)
        if self.unlabelled == "empty":
            unassigned = 0
            responses += [
                Response(example=name, annotator=alone, answer=None, state=states.EMPTY)
                for name in without
            ]
        return self.gathered(
            self.kind,
            responses,
            labels,
            source=path.name,
            examples=images.values(),
            offered=list(categories.values()),
            left_out={"images without annotation (not annotated, or of no label)": unassigned},
        )


def _named(entries: Sequence[base.Entry], noun: str, name: str) -> dict[str, str]:
    """Return the names of images or categories by their ids; neither is there twice."""
    names: dict[str, str] = {}
    taken: set[str] = set()
    for at, entry in enumerate(entries):
        place = f".{'images' if noun == 'image' else 'categories'}[{at}]"
        identity, called = (base.text_of(entry.get(key)) for key in ("id", name))
        if identity is None or called is None:
            key = "id" if identity is None else name
            raise base.unlike(f"{place}.{key}", "a text or number", found=base.shown(entry, key))
        if identity in names or called in taken:
            hint = base.as_argument("coco", example="id") if noun == "image" else base.AGAIN
            found = f"{names.get(identity, called)} before"
            raise base.unlike(
                place, f"an id and a name of its own for each {noun}", None, found, hint
            )
        names[identity] = called
        taken.add(called)
    return names


def _known(entry: base.Entry, key: str, known: Mapping[str, str], place: str) -> str:
    """Return the id under a key of an annotation, which is one of the file."""
    value = base.text_of(entry.get(key))
    if value is None or value not in known:
        expected = f"{key}, one of {counted(len(known))}"
        raise base.unlike(place, expected, found=base.shown(entry, key))
    return value
