"""SageMaker Ground Truth: output manifests, and the answers of single workers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import attrs

from plausibly.plugin import (
    AnnotationTable,
    InputError,
    Response,
    ResponseOptions,
    json_head,
    listed,
    quoted,
    states,
)
from plausibly_builtins.readers._consolidated import first_bytes
from plausibly_builtins.readers._sagemaker_answers import (
    Kind,
    WorkerAnswer,
    answer_of,
    field_of,
    kind_of,
)
from plausibly_builtins.readers._sagemaker_files import (
    Entry,
    all_workers,
    attributes,
    entries_of,
    from_folder,
    has_answers,
    is_labelled,
    is_request,
    kind_of_job,
    merged,
    metadata,
    name_of,
    requested,
    unlike,
)

_FAILED = "objects that the job could not label"


@attrs.frozen(kw_only=True)
class SageMaker(ResponseOptions):
    """Read an output manifest, or the answers of workers.

    A manifest (JSON Lines, one object a line) holds a merged label an object: the response of the
    annotator ``consolidated``. Labels are what the metadata call them, since the manifest itself
    numbers them. The confidence of a label is no probability, and is not read. Lines without the
    label attribute are examples to which nobody responded.

    Votes are read where there are any: in a manifest of a custom job
    (``annotationsFromAllWorkers``), in a file of ``consolidation-request``, and in the folder
    ``worker-response``, whose objects are called as their folders.

    Attributes
    ----------
    attribute : str or None
        The label attribute, where there are several.
    field : str or None
        Field of the workers' form that holds the labels, where several do.
    kind : {"label-set", "single-label"} or None
        What workers answered; None takes label sets where the form lists ``labels``.
    """

    attribute: str | None = None
    field: str | None = None
    kind: Kind | None = None

    def recognises(self, path: Path, head: bytes) -> bool:
        """Return whether there are label attributes with metadata of a job, or workers' answers."""
        if path.is_dir():
            answers = json_head(first_bytes(path, "*.json"))
            return bool(answers) and has_answers(answers[0])
        values = json_head(head)
        entries = values[0] if len(values) == 1 and isinstance(values[0], list) else values
        return any(is_labelled(entry) or is_request(entry) for entry in entries)

    def read(self, path: Path, labels: Sequence[str] | None) -> AnnotationTable:
        """Return the annotation table in the file or folder.

        Parameters
        ----------
        path : Path
            A manifest, a file of requests, or a folder of workers' answers.
        labels : sequence of str or None
            The declared labels.

        Raises
        ------
        InputError
            ``sagemaker-unlike`` with the line, ``attribute-several`` and ``attribute-missing``,
            ``type-unfit`` where the job drew boxes or the like, ``types-mixed``,
            ``class-unnamed`` and ``class-differs``, ``field-several``, ``field-missing``,
            ``answer-invalid``, and what `plausibly.plugin.read_json_lines` says.

        Warns
        -----
        PlausiblyWarning
            ``votes-consolidated``.
        """
        if path.is_dir():
            return self._voted(list(from_folder(path)), labels, path.name, ())
        entries = entries_of(path)
        if all(is_request(entry) for _, entry in entries):
            answers = [a for place, entry in entries for a in requested(entry, place, path.name)]
            return self._voted(answers, labels, path.name, ())
        return self._manifest(entries, labels, path.name)

    def _manifest(
        self, entries: Sequence[tuple[str, Entry]], labels: Sequence[str] | None, whose: str
    ) -> AnnotationTable:
        attribute = self._attribute(entries, whose)
        done = [(place, entry) for place, entry in entries if entry.get(attribute) is not None]
        kind = kind_of_job(done, attribute, whose)
        names = [name_of(entry, place, whose) for place, entry in entries]
        if kind is None:
            answers = [
                answer
                for place, entry in done
                for answer in all_workers(entry, attribute, place, whose)
            ]
            return self._voted(answers, labels, whose, names)
        called: dict[str, str] = {}
        responses = [merged(entry, attribute, kind, place, whose, called) for place, entry in done]
        failed = sum("failure-reason" in metadata(entry, attribute) for _, entry in entries)
        # A label that nobody looked at is no opinion, unless the user says that it is to count.
        settled = attrs.evolve(self, states={states.SUGGESTION: states.DROP, **self.states})
        return settled.gathered(
            kind, responses, labels, whose=whose, examples=names, left_out={_FAILED: failed}
        )

    def _attribute(self, entries: Sequence[tuple[str, Entry]], whose: str) -> str:
        found = list(dict.fromkeys(name for _, entry in entries for name in attributes(entry)))
        if self.attribute in found:
            return str(self.attribute)
        if self.attribute is None and len(found) == 1:
            return found[0]
        if not found:
            raise unlike(whose, "", "a label attribute with its metadata on some line", "none")
        shown = listed(map(quoted, found))
        raise InputError(
            "attribute-several" if self.attribute is None else "attribute-missing",
            f"{whose} holds {len(found)} label attributes"
            if self.attribute is None
            else f"{whose} has no label attribute {quoted(self.attribute)}",
            expected="one, or the name of the one to read",
            got=shown,
            do=f'--reader \'{{name = "sagemaker", attribute = "{found[0]}"}}\'',
            whose=whose,
            details={"attributes": found},
        )

    def _voted(
        self,
        answers: Sequence[WorkerAnswer],
        labels: Sequence[str] | None,
        whose: str,
        examples: Sequence[str],
    ) -> AnnotationTable:
        """Return the table of what single workers answered."""
        field = field_of(answers, self.field, whose)
        kind = kind_of(answers, field, self.kind)
        responses = [
            Response(
                example=answer.example,
                annotator=answer.annotator,
                answer=answer_of(answer, field, kind, whose),
                time=answer.time,
                place=answer.place,
            )
            for answer in answers
        ]
        return self.gathered(kind, responses, labels, whose=whose, examples=examples)
