"""Label Studio: the JSON export, with several annotations a task."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import attrs

from plausibly.plugin import (
    AnnotationTable,
    InputError,
    NamedPrediction,
    file_opening,
    from_named,
    json_head,
    listed,
    quoted,
    several,
    warn,
)
from plausibly_builtins.readers._label_studio_answers import LabelStudioOptions, in_kind
from plausibly_builtins.readers._label_studio_controls import Control, chosen, types_of
from plausibly_builtins.readers._label_studio_people import People
from plausibly_builtins.readers._label_studio_tasks import (
    Entry,
    Export,
    Region,
    is_task,
    load,
    parts,
    text_of,
)
from plausibly_builtins.readers._label_studio_values import RANKING, Reading
from plausibly_builtins.readers._label_studio_walk import Walk, by_example, by_index, called

if TYPE_CHECKING:
    import xarray as xr


@attrs.frozen(kw_only=True)
class LabelStudio(LabelStudioOptions):
    """Read the JSON export of Label Studio: a file, or a folder with one a task or annotation.

    One control gives the answers. Choices and taxonomies name one label or several, a pairwise
    choice names ``left`` or ``right``, a ranker orders its items. All annotations of a task are
    read, and its drafts; what was cancelled is a skip, what a reviewer rejected is dropped, what
    repeats a model's prediction is a suggestion. The history of an annotation is never read. An
    annotation that is there twice, by its id, is one.

    Attributes
    ----------
    control : str or None
        Name of the control whose choices are the labels; None takes the only one that there is. A
        pattern names the controls of a Repeater: with ``"choice_{index}"`` the answers to
        ``choice_0`` and ``choice_1`` of task 7 are about the examples ``7#0`` and ``7#1``.
    example : str
        What names the examples: ``"id"``, the id of the task, or a key of its data. Tasks without
        id are called by their place, from 0.
    ground_truth : {"count", "drop"} or None
        What annotations that are marked as ground truth are: responses like others, which is said
        where None leaves it open, or none.
    """

    example: str = "id"
    ground_truth: Literal["count", "drop"] | None = None

    def recognises(self, path: Path, head: bytes) -> bool:
        """Return whether tasks with results of annotations or predictions come first."""
        if not path.is_dir():
            return _has_tasks(head)
        heads = [file_opening(part, "annotations") for part in parts(path)]
        return bool(heads) and all(map(_has_tasks, heads))

    def read(self, path: Path, labels: Sequence[str] | None) -> AnnotationTable:
        """Return the annotation table in the export.

        Parameters
        ----------
        path : Path
            The file or folder.
        labels : sequence of str or None
            The declared labels; the export lists none that nobody chose.

        Raises
        ------
        InputError
            What `plausibly.plugin.read_json` and `ResponseOptions.gathered` say;
            ``label-studio-shape``, ``example-unnamed``, ``annotations-empty``,
            ``annotation-differs``; about the control ``controls-several``, ``control-unknown``,
            ``control-unfit``, ``control-number``, ``control-mixed``; about its values
            ``value-unfit``, ``buckets-unordered``, ``taxonomy-ambiguous``, ``rankings-several``,
            ``kind-unfit``.

        Warns
        -----
        PlausiblyWarning
            ``examples-numbered``, ``ground-truth-counted``, ``annotators-unnamed``.
        """
        export = load(path, self.example)
        entries = [e for task in export.tasks for e in (*task.annotations, *task.drafts)]
        if not entries:
            raise _nobody(export)
        reading = self.reading(export.whose)
        control = chosen(
            types_of(entries),
            self.control,
            numbers=self.numbers == "label",
            whose=export.whose,
        )
        walk = Walk(
            control=control,
            reading=reading,
            people=People.of(entries),
            policies=self.states,
            drop_truth=self.ground_truth == "drop",
            left_out=export.left_out,
        )
        responses = [r for tasks in by_example(export.tasks) for r in walk.responses(tasks)]
        kind, answered = in_kind(responses, control, self.kind, export.whose)
        self._warn(export, walk.truths)
        return self.gathered(
            kind,
            answered,
            labels,
            whose=export.whose,
            examples=() if control.repeats else [task.example for task in export.tasks],
            left_out=walk.left_out,
        )

    def predictions(
        self, path: Path, labels: Sequence[str] | None, model: str | None
    ) -> xr.DataArray:
        """Return what a model predicted, (example, label); see `plausibly.plugin.from_named`.

        Parameters
        ----------
        path : Path
            The file or folder.
        labels : sequence of str or None
            The declared labels.
        model : str or None
            Its ``model_version``; None where there is only one.

        Raises
        ------
        InputError
            Those of `read` about the control and its values, and those of `from_named`.
        """
        export = load(path, self.example)
        reading = self.reading(export.whose)
        entries = [entry for task in export.tasks for entry in task.predictions]
        control = chosen(
            types_of(entries), self.control, numbers=self.numbers == "label", whose=export.whose
        )
        if control.type == RANKING:
            raise _ranked(control, export.whose)
        found = [
            NamedPrediction(
                example=called(task.example, index),
                model=text_of(entry.fields.get("model_version")) or "",
                scores=tuple(_scores(regions, entry, reading)),
                place=entry.place,
            )
            for task in export.tasks
            for entry in task.predictions
            for index, regions in by_index(entry, control).items()
        ]
        self._warn(export, [])
        return from_named(
            found,
            labels,
            model=model,
            examples=[] if control.repeats else [task.example for task in export.tasks],
            whose=export.whose,
        )

    def _warn(self, export: Export, truths: Sequence[str]) -> None:
        if export.numbered:
            warn(
                "examples-numbered",
                f"{export.whose}: no task has an id; examples are called by their place, from 0",
                expected="a name that stays when tasks come or go",
                got=f"{several(len(export.tasks), 'task')} without id",
                do='example = "..." with a key of the data that names them',
                whose=export.whose,
                stacklevel=6,
            )
        if truths and self.ground_truth is None:
            warn(
                "ground-truth-counted",
                f"{export.whose}: {several(len(truths), 'annotation')} marked as ground truth "
                f"({listed(truths)})",
                expected="what annotators said",
                got="annotations that may be the truth that others were measured by",
                do='ground_truth = "drop", or "count" to count each like any other',
                whose=export.whose,
                stacklevel=6,
            )


def _has_tasks(head: bytes) -> bool:
    values = json_head(head)
    if len(values) != 1:
        return False
    return any(map(is_task, values[0] if isinstance(values[0], list) else values))


def _scores(
    regions: Sequence[Region], entry: Entry, reading: Reading
) -> Iterator[tuple[str, str | None]]:
    for region in regions:
        score = text_of(region.score) or text_of(entry.fields.get("score"))
        for label in reading.labels(region.type, region.control, region.value, entry.place):
            yield label, score


def _nobody(export: Export) -> InputError:
    models = any(task.predictions for task in export.tasks)
    return InputError(
        "annotations-empty",
        f"{export.whose} holds no annotation",
        expected="tasks that somebody annotated",
        got=several(len(export.tasks), "task")
        + (" with predictions only" if models else " without annotations"),
        do='plausibly.read_predictions(path, reader="label-studio") reads what models said'
        if models
        else "export again when tasks are annotated",
        whose=export.whose,
    )


def _ranked(control: Control, whose: str) -> InputError:
    return InputError(
        "predictions-ranked",
        f"{whose}: predictions of control {quoted(control.name)} are rankings",
        expected="labels with scores",
        got="items in order",
        do="control = ... of type choices or taxonomy",
        whose=whose,
    )
