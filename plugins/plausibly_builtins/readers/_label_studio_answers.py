"""Label Studio: options that its two exports share, and answers in the form of their kind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

import attrs

from plausibly.plugin import Duplicates, InputError, Response, ResponseOptions, quoted
from plausibly_builtins.readers._label_studio_controls import Control
from plausibly_builtins.readers._label_studio_tasks import Region
from plausibly_builtins.readers._label_studio_values import RANKING, Reading, Taxonomy

Kind: TypeAlias = Literal["single-label", "label-set"]

_RANKED = "partial-ranking"


@attrs.frozen(kw_only=True)
class LabelStudioOptions(ResponseOptions):
    """What both exports let their user say.

    Attributes
    ----------
    control : str or None
        Name of the control whose choices are the labels; None takes the only one that there is.
    kind : {"single-label", "label-set"} or None
        What choices are; None: label sets where any response names two labels.
    taxonomy : {"leaf", "path"}
        What a choice in a taxonomy is called: ``"Eczema"`` or ``"Skin/Eczema"``.
    buckets : tuple of str
        Buckets of a ranker, the best first: the export does not hold their order.
    numbers : {"refuse", "label"}
        Whether each rating or number is a label.
    duplicates : {"latest", "error", "all", "fractional"}
        What several answers of one annotator to one example mean; the export has their times.
    """

    control: str | None = None
    kind: Kind | None = None
    taxonomy: Taxonomy = "leaf"
    buckets: tuple[str, ...] = ()
    numbers: Literal["refuse", "label"] = "refuse"
    duplicates: Duplicates = attrs.field(
        default="latest",
        validator=attrs.validators.in_(("error", "latest", "all", "fractional")),
        metadata={
            "help": "Several answers of one annotator to one example: the latest by its time, an "
            "error, all of them, or all of them with one vote together."
        },
    )

    def reading(self, whose: str) -> Reading:
        """Return how values become labels."""
        return Reading(whose=whose, taxonomy=self.taxonomy, buckets=self.buckets)


def said(
    regions: Sequence[Region], control: Control, reading: Reading, at: str
) -> list[str] | list[list[str]]:
    """Return what the regions of one control say together: labels, each once, or rank blocks."""
    if not regions:
        return []
    if control.type != RANKING:
        found = [
            label
            for region in regions
            for label in reading.labels(region.type, region.control, region.value, at)
        ]
        return list(dict.fromkeys(found))
    if len(regions) > 1:
        raise InputError(
            "rankings-several",
            f"{reading.whose} {at}: {len(regions)} rankings by control "
            f"{quoted(regions[0].control)}",
            expected="one ranking an annotation",
            got=f"{len(regions)}",
            do="keep one of them",
            whose=reading.whose,
        )
    return reading.ranks(regions[0].control, regions[0].value, at)


def in_kind(
    responses: Sequence[Response], control: Control, kind: Kind | None, whose: str
) -> tuple[str, list[Response]]:
    """Return the kind of answer, and the responses with answers of its form.

    Parameters
    ----------
    responses : sequence of Response
        Whose answers are what `said` gives.
    control : Control
    kind : {"single-label", "label-set"} or None
        What the user said.
    whose : str
        Name of the file.
    """
    if control.type == RANKING:
        if kind is not None:
            raise InputError(
                "kind-unfit",
                f"{whose}: control {quoted(control.name)} ranks labels",
                expected=f"answers of kind {kind}",
                got=f"answers of kind {_RANKED}",
                do="leave kind out",
                whose=whose,
            )
        return _RANKED, list(responses)
    answers = [response.answer for response in responses]
    several = any(isinstance(answer, list) and len(answer) > 1 for answer in answers)
    if kind == "label-set" or (kind is None and several):
        return "label-set", list(responses)
    return "single-label", [
        attrs.evolve(response, answer=_single(response.answer)) for response in responses
    ]


def _single(answer: object) -> object:
    return answer[0] if isinstance(answer, list) and len(answer) == 1 else answer
