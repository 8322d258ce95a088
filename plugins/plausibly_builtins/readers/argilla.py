"""Argilla: records with responses to questions, nested, flat, or of version 1."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal, TypeAlias

import attrs
import xarray as xr

from plausibly.plugin import (
    AnnotationTable,
    InputError,
    NamedPrediction,
    Response,
    ResponseOptions,
    from_named,
    json_shown,
    listed,
    near,
    quoted,
    several,
    warn,
)
from plausibly_builtins.readers._argilla_answers import answer_of, kind_of, scores_of, state_of
from plausibly_builtins.readers._argilla_records import USUAL_NAMES, Record, has_records, load
from plausibly_builtins.readers._names import short

Kind: TypeAlias = Literal["single-label", "label-set", "partial-ranking"]


@attrs.frozen(kw_only=True)
class Argilla(ResponseOptions):
    """Read records of Argilla: nested or flat ones of version 2, or those of version 1.

    One question gives the answers. A label question or a rating names one label, a multi-label
    question a set, a ranking orders labels; labels of equal rank share a block. Who discards a
    record skips it, a draft is unfinished, and who is pending has not answered. Suggestions are
    no responses: they are what `predictions` gives.

    Attributes
    ----------
    question : str or None
        The question whose answers are read; None takes the only one that there is.
    kind : {"single-label", "label-set", "partial-ranking"} or None
        What answers are. It must be said where they are lists of labels, since the export writes
        sets and rankings alike.
    example : str or None
        Key of a record, its metadata or its fields that names the examples; None takes ``id``,
        ``external_id`` or ``_server_id``.
    """

    question: str | None = None
    kind: Kind | None = None
    example: str | None = None

    def recognises(self, path: Path, head: bytes) -> bool:
        """Return whether records with responses or suggestions of Argilla come first."""
        return has_records(head)

    def read(self, path: Path, labels: Sequence[str] | None) -> AnnotationTable:
        """Return the annotation table in the file.

        Parameters
        ----------
        path : Path
            The file.
        labels : sequence of str or None
            The declared labels; the export lists none that nobody chose.

        Raises
        ------
        InputError
            ``argilla-shape``, ``record-unlike``, ``responses-unlike``, ``annotations-empty``,
            ``questions-several``, ``question-unknown``, ``status-unknown``, ``answer-unfit``,
            ``answers-mixed``, ``kind-unclear``, ``kind-unfit``, ``example-unnamed``, and what
            `plausibly.plugin.read_json` and `ResponseOptions.gathered` say.

        Warns
        -----
        PlausiblyWarning
            ``status-missing``, ``examples-numbered``, ``annotators-unnamed``.
        """
        records = load(path)
        asked = _once(name for record in records for name in record.questions())
        suggested = any(record.suggested() for record in records)
        question = self._question(path, asked, suggested=suggested)
        names = self._names(path, records)
        given = [
            (name, said, state)
            for name, record in zip(names, records, strict=True)
            for said in record.responses(question)
            if (state := state_of(path, said)) is not None
        ]
        kind = kind_of(path, question, [said for _, said, _ in given], self.kind)
        _warn_status(path, [said.place for _, said, _ in given if said.status is None])
        responses = [
            Response(
                example=name,
                annotator=said.user,
                answer=None if state == "skipped" else answer_of(kind, said.value),
                state=state,
                place=said.place,
            )
            for name, said, state in given
        ]
        return self.gathered(kind, responses, labels, whose=path.name, examples=names)

    def predictions(
        self, path: Path, labels: Sequence[str] | None, model: str | None
    ) -> xr.DataArray:
        """Return what a model suggested, (example, label); see `plausibly.plugin.from_named`.

        Parameters
        ----------
        path : Path
            The file.
        labels : sequence of str or None
            The declared labels.
        model : str or None
            The ``agent`` of its suggestions; None where there is only one.

        Raises
        ------
        InputError
            Those of `read` about the question and its answers; ``predictions-ranked``,
            ``scores-unlike``, and those of `from_named`.
        """
        records = load(path)
        names = self._names(path, records)
        asked = _once(name for record in records for name in record.suggested())
        question = self._question(path, asked, suggested=None) if asked else ""
        found = [
            (name, said)
            for name, record in zip(names, records, strict=True)
            for said in record.suggestions(question)
            if said.value is not None
        ]
        kind = kind_of(path, question, [said for _, said in found], self.kind)
        if kind == "partial-ranking":
            raise InputError(
                "predictions-ranked",
                f"{path.name}: suggestions to {quoted(question)} are rankings",
                expected="labels with scores",
                got="labels in order",
                do='question = "..." with a question about labels',
                whose=path.name,
            )
        return from_named(
            [
                NamedPrediction(
                    example=name,
                    model=str(said.agent) if isinstance(said.agent, str) else "",
                    scores=tuple(scores_of(path, said)),
                    place=said.place,
                )
                for name, said in found
            ],
            labels,
            whose=path.name,
            model=model,
            examples=names,
        )

    def _question(self, path: Path, asked: Sequence[str], *, suggested: bool | None) -> str:
        """Return the question that is meant; suggested None: the suggestions are read."""
        if not asked and (self.question is None or suggested):
            raise InputError(
                "annotations-empty",
                f"{path.name} holds no response",
                expected="records that somebody answered",
                got="suggestions only" if suggested else "records without responses",
                do='plausibly.read_predictions(path, reader="argilla") reads what models suggested'
                if suggested
                else "export again when records are answered",
                whose=path.name,
            )
        if self.question in asked or (self.question is not None and not asked):
            return self.question or ""
        if self.question is None and len(asked) == 1:
            return asked[0]
        noun = "question" if suggested is not None else "suggested question"
        meant = near(self.question, asked) if self.question is not None else None
        raise InputError(
            "questions-several" if self.question is None else "question-unknown",
            f"{path.name} has {several(len(asked), noun)}"
            if self.question is None
            else f"{path.name} has no {noun} called {short(self.question)}",
            expected="the question whose answers are meant",
            got=listed(map(short, asked)),
            do=f"--reader '{{name = \"argilla\", question = {quoted(meant or asked[0])}}}'"
            + (", or another of them" if len(asked) > 1 else ""),
            whose=path.name,
            details={"questions": list(asked)},
        )

    def _names(self, path: Path, records: Sequence[Record]) -> list[str]:
        """Return the name of the example of each record."""
        if self.example is not None:
            found = {self.example: [record.named(self.example) for record in records]}
        else:
            every = {key: [record.fields.get(key) for record in records] for key in USUAL_NAMES}
            found = {key: values for key, values in every.items() if any(values)}
        if not found:
            _warn_numbered(path, len(records))
            return [str(place) for place in range(len(records))]
        for values in found.values():
            if all(isinstance(value, str) and value for value in values):
                return list(map(str, values))
        key, values = next(iter(found.items()))
        record, value = next(
            (record, value)
            for record, value in zip(records, values, strict=True)
            if not isinstance(value, str) or not value
        )
        raise InputError(
            "example-unnamed",
            f"{path.name} {record.place} names no example",
            expected=f"text or a number as {quoted(key)}",
            got=json_shown(value) if value is not None else "no such key, or null",
            do='--reader \'{name = "argilla", example = "KEY"}\' with a key that names them',
            whose=path.name,
            details={"place": record.place},
        )


def _once(names: Iterable[str]) -> list[str]:
    return sorted(set(names))


def _warn_status(path: Path, places: Sequence[str]) -> None:
    if places:
        warn(
            "status-missing",
            f"{path.name} does not say whether {several(len(places), 'response')} "
            f"{'was' if len(places) == 1 else 'were'} submitted ({listed(places)})",
            expected="submitted, draft or discarded",
            got="no status: each counts, also what may be a draft or discarded",
            do="export flat records, which have it: dataset.records.to_list(flatten=True)",
            whose=path.name,
            stacklevel=6,
        )


def _warn_numbered(path: Path, number: int) -> None:
    warn(
        "examples-numbered",
        f"{path.name}: no record has an id; examples are called by their place, from 0",
        expected="a name that stays when records come or go",
        got=f"{several(number, 'record')} without id",
        do='example = "..." with a key that names them',
        whose=path.name,
        stacklevel=6,
    )
