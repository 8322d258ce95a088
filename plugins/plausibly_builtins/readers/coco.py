"""COCO: the categories of images, as the format has them for whole images."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Literal, TypeAlias

import attrs

from plausibly.plugin import (
    AnnotationTable,
    InputError,
    Response,
    ResponseOptions,
    counted,
    json_head,
    json_shown,
    listed,
    quoted,
    read_json,
    several,
    states,
)
from plausibly_builtins.readers._exports import CONSOLIDATED, one_or_all

_LISTS = ("images", "categories", "annotations")
_OTHERS = frozenset({"info", "licenses"})
_WHERE = ("bbox", "segmentation", "keypoints", "segments_info")
_UNLABELLED = "images without annotation (not annotated, or of no label)"

_SHOWN = 32_768  # so much of a file is shown to `recognises` at least, where there is more

_Entry: TypeAlias = Mapping[str, object]


@attrs.frozen(kw_only=True)
class Coco(ResponseOptions):
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
        What it means that an image has no annotation, which the file does not say: no response
        (counted in the summary), or an empty answer.
    """

    kind: Literal["label-set", "single-label"] = "label-set"
    annotator: str | None = None
    example: Literal["file_name", "id"] = "file_name"
    instances: bool = False
    unlabelled: Literal["not-assigned", "empty"] = "not-assigned"

    def recognises(self, path: Path, head: bytes) -> bool:
        """Return whether the file is an object with the three lists, as far as it is shown."""
        values = json_head(head)
        if len(values) != 1 or not isinstance(values[0], dict):
            return False
        found = values[0]
        if not all(isinstance(found.get(key, []), list) for key in _LISTS):
            return False
        seen = [key for key in _LISTS if key in found]
        if len(seen) == len(_LISTS):
            return True
        # In a long file the other lists come later.
        return bool(seen) and len(head) >= _SHOWN and set(found) <= {*_LISTS, *_OTHERS}

    def read(self, path: Path, labels: Sequence[str] | None) -> AnnotationTable:
        """Return the annotation table in the file."""
        whose = path.name
        lists = _lists(path)
        categories = _named(lists, "categories", "name", whose)
        images = _named(lists, "images", self.example, whose)
        self._check_instances(lists["annotations"], whose)
        who = self._who(lists["annotations"], whose)
        said: dict[tuple[str, str | None], dict[str, str]] = {}
        for at, entry in enumerate(lists["annotations"]):
            place = f".annotations[{at}]"
            about = _known(entry, "image_id", images, place, whose)
            label = categories[_known(entry, "category_id", categories, place, whose)]
            said.setdefault((about, who(entry)), {}).setdefault(label, place)
        responses = [
            Response(
                example=images[about],
                annotator=annotator,
                answer=one_or_all(self.kind, list(found)),
                state=states.CONSOLIDATED if annotator == CONSOLIDATED else states.ANSWERED,
                place=next(iter(found.values())),
            )
            for (about, annotator), found in said.items()
        ]
        answered = {about for about, _ in said}
        without = [name for key, name in images.items() if key not in answered]
        if self.unlabelled == "empty":
            by = self.annotator or CONSOLIDATED
            responses += [
                Response(example=name, annotator=by, answer=None, state=states.EMPTY)
                for name in without
            ]
            without = []
        return self.gathered(
            self.kind,
            responses,
            labels,
            whose=whose,
            examples=images.values(),
            offered=list(categories.values()),
            left_out={_UNLABELLED: len(without)},
        )

    def _check_instances(self, annotations: Sequence[_Entry], whose: str) -> None:
        places = [
            at for at, entry in enumerate(annotations) if any(entry.get(key) for key in _WHERE)
        ]
        if not places or self.instances:
            return
        keys = [key for key in _WHERE if any(entry.get(key) for entry in annotations)]
        raise InputError(
            "instances-refused",
            f"{whose}: {several(len(places), 'annotation')} of {counted(len(annotations))} "
            f"{'says' if len(places) == 1 else 'say'} where something is "
            f"({listed(f'.annotations[{at}]' for at in places)})",
            expected="annotations of whole images: image_id and category_id",
            got=listed(keys),
            do="--reader '{name = \"coco\", instances = true}', if an instance means that its "
            "image shows the category",
            whose=whose,
            details={"annotations": places},
        )

    def _who(self, annotations: Sequence[_Entry], whose: str) -> Callable[[_Entry], str | None]:
        """Return what tells the annotator of an annotation."""
        if all(entry.get("annotator") is None for entry in annotations):
            named = self.annotator or CONSOLIDATED
            return lambda _: named
        if self.annotator is not None:
            raise InputError(
                "annotator-unfit",
                f"{whose} names its annotators",
                expected="an annotator for a file that names none",
                got=quoted(self.annotator),
                do="leave annotator out",
                whose=whose,
            )

        def who(entry: _Entry) -> str | None:
            said = entry.get("annotator")
            if said is None or said == "":
                return None
            if isinstance(said, str):
                return str(said)
            raise _unlike(
                whose,
                f".annotations[{annotations.index(entry)}].annotator",
                "a text or number",
                json_shown(said),
            )

        return who


def _unlike(whose: str, place: str, expected: str, got: str) -> InputError:
    return InputError(
        "coco-unlike",
        f"{whose}: {place} is not as COCO has it",
        expected=expected,
        got=got,
        do="export it again, or name the reader that it is for: --reader NAME",
        whose=whose,
        details={"place": place},
    )


def _lists(path: Path) -> dict[str, list[_Entry]]:
    """Return the three lists of the file, all entries of which are objects."""
    content = read_json(path, expected="an object with images, categories and annotations")
    if not isinstance(content, dict):
        raise _unlike(path.name, ".", f"an object with {listed(_LISTS)}", json_shown(content))
    found: dict[str, list[_Entry]] = {}
    for key in _LISTS:
        entries = content.get(key)
        if not isinstance(entries, list):
            got = json_shown(entries) if key in content else f"keys {listed(content) or 'none'}"
            raise _unlike(path.name, f".{key}", "a list", got)
        for at, entry in enumerate(entries):
            if not isinstance(entry, dict):
                raise _unlike(path.name, f".{key}[{at}]", "an object", json_shown(entry))
        found[key] = entries
    return found


def _named(lists: Mapping[str, list[_Entry]], key: str, name: str, whose: str) -> dict[str, str]:
    """Return the names of images or categories by their ids; neither is there twice."""
    found: dict[str, str] = {}
    names: dict[str, str] = {}
    for at, entry in enumerate(lists[key]):
        place = f".{key}[{at}]"
        identity, called = entry.get("id"), entry.get(name)
        for part, value in (("id", identity), (name, called)):
            if not isinstance(value, str) or not value:
                got = json_shown(value) if part in entry else f"keys {listed(entry) or 'none'}"
                raise _unlike(whose, f"{place}.{part}", "a text or number", got)
        for what, before in (("id", found.get(str(identity))), ("name", names.get(str(called)))):
            if before is None:
                continue
            noun = "image" if key == "images" else "category"
            do = "keep one of them"
            if what == "name" and key == "images":
                do = '--reader \'{name = "coco", example = "id"}\''
            raise InputError(
                f"{noun}-twice",
                f"{whose}: {place} has the {what} of another {noun}, "
                f"{str(identity) if what == 'id' else quoted(called)}",
                expected=f"each {noun} once",
                got=f"{before if what == 'id' else called} before",
                do=do,
                whose=whose,
                details={"place": place},
            )
        found[str(identity)] = str(called)
        names[str(called)] = str(identity)
    return found


def _known(entry: _Entry, key: str, known: Mapping[str, str], place: str, whose: str) -> str:
    """Return an id that an annotation names, once it is known to be one of the file."""
    value = entry.get(key)
    if isinstance(value, str) and value in known:
        return str(value)
    noun = "image" if key == "image_id" else "category"
    raise InputError(
        f"{noun}-unknown",
        f"{whose}: {place} is of no {noun} of the file",
        expected=f"{key}, one of {several(len(known), noun).replace('categorys', 'categories')}",
        got=json_shown(value) if key in entry else f"keys {listed(entry) or 'none'}",
        do="export it again",
        whose=whose,
        details={"place": place},
    )
