"""Which columns of a crowd table hold what: by their own names, or as a platform names them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

import attrs

from plausibly.plugin import InputError, TextTable, listed, near, quoted, states

PresetName: TypeAlias = Literal["crowd-kit", "toloka", "mturk", "figure-eight"]
PRESETS = ("crowd-kit", "toloka", "mturk", "figure-eight")
NEEDED = ("task", "worker", "label")
OPTIONAL = ("weight", "time", "state")

_TASK_ANSWERS = "taskAnswers"
_WORKERS = ("worker", "performer", "annotator")
_NO_ANSWER = (":confidence", "_gold", "_gold_reason")


@attrs.frozen(kw_only=True)
class Columns:
    """Where what stands in a crowd table.

    Attributes
    ----------
    task, worker, label : str
        The columns of every vote.
    weight, time, state : str or None
        Those that a vote may have besides.
    words : mapping of str to str
        State of each word in the column of states, in small letters.
    golden : tuple of str
        Columns that are filled where the answer to a task is known.
    separator : str or None
        What stands between the labels of a cell, where the platform says so.
    json : bool
        Whether the cells of the labels hold JSON, and `question` which part is meant.
    months_first : bool
        Whether 7/12/2014 is in July.
    """

    task: str
    worker: str
    label: str
    weight: str | None = None
    time: str | None = None
    state: str | None = None
    words: Mapping[str, str] = attrs.field(factory=lambda: {word: word for word in states.STATES})
    golden: tuple[str, ...] = ()
    separator: str | None = None
    json: bool = False
    question: str | None = None
    months_first: bool = False

    def called(self) -> dict[str, str]:
        """Return the columns by what they hold."""
        found = {role: getattr(self, role) for role in (*NEEDED, *OPTIONAL)}
        return {role: name for role, name in found.items() if name is not None}


@attrs.frozen(kw_only=True)
class _Preset:
    task: str
    worker: str
    time: str
    state: str
    words: Mapping[str, str]
    answers: str = ""
    golden: str = ""


_PLATFORMS: Mapping[str, _Preset] = {
    "toloka": _Preset(
        task="ASSIGNMENT:task_id",
        worker="ASSIGNMENT:worker_id",
        time="ASSIGNMENT:submitted",
        state="ASSIGNMENT:status",
        words={
            "accepted": states.ANSWERED,
            "approved": states.ANSWERED,
            "submitted": states.ANSWERED,
            "rejected": states.REJECTED,
            "skipped": states.SKIPPED,
            "active": states.UNFINISHED,
            "expired": states.UNFINISHED,
        },
        answers="OUTPUT:",
        golden="GOLDEN:",
    ),
    "mturk": _Preset(
        task="HITId",
        worker="WorkerId",
        time="SubmitTime",
        state="AssignmentStatus",
        words={
            "approved": states.ANSWERED,
            "submitted": states.ANSWERED,
            "rejected": states.REJECTED,
        },
        answers="Answer.",
    ),
    "figure-eight": _Preset(
        task="_unit_id",
        worker="_worker_id",
        time="_created_at",
        state="_tainted",
        words={"false": states.ANSWERED, "true": states.REJECTED},
        answers="Answer.",
        golden="_golden",
    ),
}


def recognised(header: Sequence[str], given: Mapping[str, str]) -> str | None:
    """Return the preset whose columns are unmistakably there; None where none or several are.

    Parameters
    ----------
    header : sequence of str
        Names of the columns.
    given : mapping of str to str
        Columns that the user names, by what they hold.
    """
    if all(given.get(role, role) in header for role in NEEDED) and not set(given) >= {*NEEDED}:
        return None
    found = [name for name in _PLATFORMS if _is_of(name, header, given)]
    if not found and len(_worker_of(header)) == 1:
        others = [given.get(role, role) for role in ("task", "label")]
        found = ["crowd-kit"] * ("worker" not in given and all(name in header for name in others))
    return found[0] if len(found) == 1 else None


def _is_of(name: str, header: Sequence[str], given: Mapping[str, str]) -> bool:
    preset = _PLATFORMS[name]
    # Of Toloka's columns the worker's is enough; a task may be told by an input.
    marks = (preset.worker,) if name == "toloka" else (preset.worker, preset.task)
    if not all(mark in header for mark in marks):
        return False
    return "label" in given or name == "figure-eight" or bool(_starting(preset.answers, header))


def _worker_of(header: Sequence[str]) -> list[str]:
    return [name for name in _WORKERS if name in header]


def _starting(start: str, header: Sequence[str]) -> list[str]:
    return [name for name in header if name.startswith(start) and len(name) > len(start)]


def check_given(whose: str, given: Mapping[str, str]) -> None:
    """Raise ``columns-unknown`` where a column is named that no crowd table has."""
    known = (*NEEDED, *OPTIONAL)
    unknown = [role for role in given if role not in known]
    if unknown:
        meant = near(unknown[0], known)
        raise InputError(
            "columns-unknown",
            f"{whose}: a crowd table has no {quoted(unknown[0])}",
            expected="task, worker and label, and where it has them weight, time and state",
            got=listed(given),
            do=f"did you mean {meant}?" if meant else "map task, worker or label",
            whose=whose,
        )


def columns_of(
    table: TextTable, preset: str | None, given: Mapping[str, str], answer: str | None
) -> Columns:
    """Return where what stands in a table.

    Parameters
    ----------
    table : TextTable
        The file.
    preset : str or None
        The platform that wrote it; None looks at the names of the columns.
    given : mapping of str to str
        Columns that the user names, by what they hold: before those of the platform.
    answer : str or None
        The column of the answers, with or without the platform's prefix, or the question in it.

    Raises
    ------
    InputError
        ``columns-unknown``; ``answer-unclear`` where several columns could hold the answers,
        ``columns-missing`` where none does.
    """
    check_given(table.whose, given)
    header = table.header if table.named else ()
    name = preset or recognised(header, given)
    of = _PLATFORMS.get(name or "")
    if of is None:
        start = dict(zip(NEEDED, NEEDED if table.named or given else ("1", "2", "3"), strict=True))
        workers = _worker_of(header)
        if name == "crowd-kit" and workers:
            start["worker"] = workers[0]
        if answer is not None:
            start["label"] = answer
        return _columns({**start, **given})
    found = {"task": of.task, "worker": of.worker}
    found |= {role: n for role, n in (("time", of.time), ("state", of.state)) if n in header}
    inputs = _starting("INPUT:", header)
    if name == "toloka" and of.task not in header and len(inputs) == 1:
        found["task"] = inputs[0]
    found |= given
    label, question = _answers(table, str(name), answer, given.get("label"))
    golden = [n for n in header if of.golden and n.startswith(of.golden)]
    return attrs.evolve(
        _columns({**found, "label": label}),
        words={**{word: word for word in states.STATES}, **of.words},
        golden=tuple(n for n in golden if name == "toloka" or n == of.golden),
        separator="\n" if name == "figure-eight" else None,
        json=label.endswith(_TASK_ANSWERS),
        question=question,
        months_first=name == "figure-eight",
    )


def _columns(found: Mapping[str, str]) -> Columns:
    return Columns(
        task=found["task"],
        worker=found["worker"],
        label=found["label"],
        weight=found.get("weight"),
        time=found.get("time"),
        state=found.get("state"),
    )


def _answers(
    table: TextTable, name: str, answer: str | None, given: str | None
) -> tuple[str, str | None]:
    """Return the column of the answers, and the question in it."""
    preset, header = _PLATFORMS[name], table.header
    if given is not None:
        return given, answer
    whole = f"{preset.answers}{_TASK_ANSWERS}"
    if answer is not None:
        fit = [n for n in (f"{preset.answers}{answer}", answer) if n in header]
        if fit:
            return fit[0], None
        return (whole, answer) if whole in header else (f"{preset.answers}{answer}", None)
    found = _starting(preset.answers, header)
    if name == "figure-eight" and not found:
        others = [n for n in header if not n.startswith("_") and not n.endswith(_NO_ANSWER)]
        found = [n for n in others if f"{n}_gold" in header] or others
    if not found:
        what = f"starts with {quoted(preset.answers)}" if name != "figure-eight" else "may do so"
        raise InputError(
            "columns-missing",
            f"{table.whose} has no column of answers",
            expected=f"one that {what}, as {name} writes it",
            got=listed(header),
            do='--reader \'{name = "crowd-table", answer = "COLUMN"}\'',
            whose=table.whose,
            details={"seen": list(header)},
        )
    if len(found) > 1:
        raise InputError(
            "answer-unclear",
            f"{table.whose} has {len(found)} columns that may hold the answers",
            expected="the name of one",
            got=listed(map(quoted, found)),
            do=f'--reader \'{{name = "crowd-table", answer = "{found[0]}"}}\'',
            whose=table.whose,
            details={"columns": found},
        )
    return found[0], None
