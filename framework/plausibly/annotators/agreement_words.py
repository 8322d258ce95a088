"""Agreement in words: the lines and the answer that ``plausibly agreement`` prints."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Sequence

import numpy as np
import xarray as xr

from plausibly.data import names
from plausibly.data.names import not_among, quoted, several
from plausibly.errors import counted
from plausibly.evaluation.describe import decimal, ends

WIDTH = 80
_TITLE, _VALUE = 50, 8
_MOST_LABELS, _MOST_ROWS = 12, 10
_OFTEN = 0.1  # of answers more than the others: from then on a label is said too much
_TITLES = {
    "percent": "two annotators give an example the same {answer}",
    "neighbouring": "the same or a neighbouring label",
    "krippendorff-nominal": "Krippendorff alpha, nominal",
    "krippendorff-ordinal": "Krippendorff alpha, ordinal",
    "krippendorff-jaccard": "Krippendorff alpha, distance 1 - Jaccard",
    "krippendorff-masi": "Krippendorff alpha, distance 1 - MASI",
    "krippendorff-overlap": "Krippendorff alpha, distance 1 - overlap",
    "fleiss-kappa": "Fleiss kappa",
    "jaccard": "Jaccard likeness of two sets",
    "masi": "MASI likeness of two sets",
    "first-choice": "the same label from the first ranks of two",
    "average-overlap": "average overlap",
    "partial-average-overlap": "partial average overlap",
    "left-out-vote": "one says what the others vote for",
}
_SHARES = {
    "unanimous": "examples on which all agree",
    "tied": "examples with a tied vote",
    "entropy": "mean entropy of the plausibilities, in nats",
}
_ANSWERS = {"single-label": "label", "label-set": "set", "partial-ranking": "ranking"}
_LIKENESS = {
    "percent": "agrees with others",
    "jaccard": "Jaccard with others",
    "partial-average-overlap": "overlap with others",
}


def measure_titles(kind: str) -> dict[str, str]:
    """Return what the measures of a kind of answers are called.

    Parameters
    ----------
    kind : str
        Such as ``"single-label"``.
    """
    answer = _ANSWERS[kind]
    return {name: title.format(answer=answer) for name, title in {**_TITLES, **_SHARES}.items()}


def describe_agreement(found: xr.Dataset) -> str:
    """Return the measures of all answers as plain text.

    Parameters
    ----------
    found : Dataset
        From `plausibly.agreement`.
    """
    lines = [*_measures(found), *_again(found)]
    for text in (_examples(found), *_reasons(found), _in_words(found)):
        lines += textwrap.wrap(text, WIDTH, break_on_hyphens=False)
    if "group" in found.dims:
        lines += ["", *_groups(found)]
    return "\n".join(lines)


def describe_annotators(found: xr.Dataset) -> str:
    """Return who differs from the others, as plain text.

    Parameters
    ----------
    found : Dataset
        From `plausibly.agreement`.
    """
    agreed = found["annotator_agreement"].values
    known = np.flatnonzero(~np.isnan(agreed))
    if not known.size:
        return "\n".join(textwrap.wrap(_nobody(found), WIDTH))
    low = [place for place in known.tolist() if found["annotator_low"].values[place]]
    low.sort(key=lambda place: (agreed[place], place))
    shown = low[:_MOST_ROWS]
    lines = _rows(found, shown)
    rest = not_among(known.tolist(), shown)
    if rest:
        each = agreed[rest]
        spread = decimal(float(each.min()))
        if len(rest) > 1:
            spread += f" to {decimal(float(each.max()))}"
        who = several(len(rest), "other annotator" if shown else "annotator")
        more = f", of whom {counted(len(low) - len(shown))} differ" if len(low) > len(shown) else ""
        stands = "" if shown else "nobody stands out: "
        lines.append(f"{stands}{who}, {spread}{more}; nobody is dropped unless you say so")
    alone = int((found["annotator_answers"].values > 0).sum()) - known.size
    if alone:
        lines.append(f"{several(alone, 'annotator')} alone with each example: nobody to compare to")
    return "\n".join(lines)


def describe_certainty(certainty: xr.Dataset) -> str:
    """Return in words how certain the most plausible label is.

    Parameters
    ----------
    certainty : Dataset
        From `plausibly.annotators.annotation_certainty`.
    """

    def mean(prefix: str, title: str) -> str:
        low, high = float(certainty[f"{prefix}low"]), float(certainty[f"{prefix}high"])
        text = f"{title:<{_TITLE}}{decimal(float(certainty[f'{prefix}mean'])):<{_VALUE}}"
        if math.isnan(low):
            return text.rstrip()
        level = f"{100 * certainty.attrs['confidence']:g} %: "
        return f"{text}{level}{ends(low, high)}"

    lines = [mean("", "annotation certainty of the most plausible label")]
    if "level_mean" in certainty:
        lines.append(mean("level_", "of its level"))
    values = certainty["certainty"].values
    lines += textwrap.wrap(
        f"by {certainty.attrs['draws']} resamples of the responses of each example: "
        f"{_percent(float((values >= 1).mean()))} of {several(len(values), 'example')} have one "
        f"label in all of them, {_percent(float((values < 0.5).mean()))} none in half of them",
        WIDTH,
    )
    return "\n".join(lines)


def _of(found: xr.Dataset, measure: str, variable: str = "value") -> float:
    if measure not in found["measure"].values:
        return math.nan
    return float(found[variable].sel(measure=measure))


def _measures(found: xr.Dataset) -> Iterator[str]:
    """Yield one line a measure; the first interval says its confidence."""
    level = f"{100 * found.attrs['confidence']:g} %: "
    answer = _ANSWERS[found.attrs["kind"]]
    for name in map(str, found["measure"].values):
        if name not in _TITLES or math.isnan(_of(found, name)):
            continue
        low, high = _of(found, name, "low"), _of(found, name, "high")
        text = f"{_TITLES[name].format(answer=answer):<{_TITLE}}"
        text += f"{decimal(_of(found, name)):<{_VALUE}}"
        if not math.isnan(low):
            text += f"{level}{ends(low, high)}"
            level = " " * len(level)
        yield text.rstrip()


def _again(found: xr.Dataset) -> list[str]:
    """Return how often a label is said again by another annotator, in the order of labels."""
    again, labels = found["label_again"].values, found[names.LABEL].values.tolist()
    known, every = _frequent(found)
    if not known:
        return []
    some = f" (the {len(known)} most frequent of {counted(every)})" if every > len(known) else ""
    verb = "says" if found.attrs["kind"] == "single-label" else "names"
    title = f"if one {verb} k, another does too{some}   "
    cells = [f"{labels[place]}: {decimal(float(again[place]), 2)}" for place in known]
    lines, current = [], title
    indent = " " * min(len(title), 34)
    for cell in cells:
        if len(current.rstrip()) + 3 + len(cell) > WIDTH and current.strip():
            lines.append(current.rstrip())
            current = indent
        current += f"{cell}   "
    return [*lines, current.rstrip()]


def _frequent(found: xr.Dataset) -> tuple[list[int], int]:
    """Return the labels that are said most, in their order, and how many are said with company."""
    again, said = found["label_again"].values, found["label_answers"].values
    known = np.flatnonzero(~np.isnan(again)).tolist()
    often = sorted(known, key=lambda place: (-int(said[place]), place))
    return sorted(often[:_MOST_LABELS]), len(known)


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _examples(found: xr.Dataset) -> str:
    compared, every = int(found.attrs["compared"]), int(found.attrs["examples"])
    if not compared:
        return f"none of {several(every, 'example')} has answers of two annotators"
    among = several(compared, "example")
    if compared < every:
        among += f" with two answers or more, of {counted(every)}"
    return (
        f"all agree on {_percent(_of(found, 'unanimous'))} of {among}; "
        f"{_percent(_of(found, 'tied'))} have a tied vote"
    )


def _reasons(found: xr.Dataset) -> Iterator[str]:
    """Yield why measures have no value, each reason once."""
    told: dict[str, list[str]] = {}
    for name, reason in zip(found["measure"].values, found["reason"].values, strict=True):
        if reason and str(name) in _TITLES:
            told.setdefault(str(reason), []).append(str(name))
    if found.attrs["compared"]:
        for reason, whose in told.items():
            yield f"no value for {', '.join(whose)}: {reason}"


def _in_words(found: xr.Dataset) -> str:
    """Return what it means, where something can be said."""
    parts = []
    percent = _of(found, "percent")
    again, labels = found["label_again"].values, found[names.LABEL].values.tolist()
    known = _frequent(found)[0]
    if len(known) > 1:
        most, least = (pick(known, key=lambda place: again[place]) for pick in (max, min))
        if again[most] > again[least]:
            parts.append(
                f"{quoted(labels[most])} is said again most often, {quoted(labels[least])} least"
            )
    near = _of(found, "neighbouring")
    if percent < 1 and not math.isnan(near):
        share = (near - percent) / (1 - percent)
        parts.append(
            f"{_percent(share)} of disagreement is by one step, which a vote hides and "
            "plausibilities keep"
        )
    shares = found["label_share"].values
    alpha = _of(found, "krippendorff-nominal")
    if found.attrs["kind"] == "single-label" and percent >= 0.8 and alpha < 0.4:
        top = int(np.nanargmax(shares))
        parts.append(
            f"{_percent(float(shares[top]))} of answers are {quoted(labels[top])}, so that chance "
            "agrees often, too: read alpha beside the first line"
        )
    return f"In words: {'; '.join(parts)}." if parts else ""


def _groups(found: xr.Dataset) -> list[str]:
    """Return a line a group: all of a few, or those that agree least."""
    by = str(found.attrs["by"])
    same, alpha, lows, highs = (
        found[variable].sel(measure=measure).values
        for variable, measure in (
            ("group_value", "percent"),
            ("group_value", "krippendorff-nominal"),
            ("group_low", "percent"),
            ("group_high", "percent"),
        )
    )
    texts = [str(name) for name in found["group"].values]
    order = list(range(len(texts)))
    cut = len(order) > 2 * _MOST_ROWS
    if cut:
        order = [place for place in order if not math.isnan(same[place])]
        order.sort(key=lambda place: (same[place], place))
        order = order[:_MOST_ROWS]
    width = max(len(by), *(len(texts[place]) for place in order)) + 2 if order else len(by) + 2
    lines = [f"{by:<{width}}{'examples':>8}   same answer   95 % interval    alpha"]
    lines[0] = lines[0].replace("95 %", f"{100 * found.attrs['confidence']:g} %")
    for place in order:
        low, high = float(lows[place]), float(highs[place])
        interval = "" if math.isnan(low) else ends(low, high)
        count = counted(int(found["group_examples"].values[place]))
        lines.append(
            f"{texts[place]:<{width}}{count:>8}   {decimal(float(same[place])):>11}   "
            f"{interval:<13}{decimal(float(alpha[place])):>8}"
        )
    if cut:
        lines.append(f"the {len(order)} of {counted(len(texts))} that agree least")
    return lines


def _rows(found: xr.Dataset, shown: Sequence[int]) -> list[str]:
    texts = [str(found[names.ANNOTATOR].values[place]) for place in shown]
    answers = [counted(int(found["annotator_answers"].values[place])) for place in shown]
    agreed = found["annotator_agreement"].values
    usual = float(np.nanmedian(agreed))
    wide, many = max(map(len, texts), default=0), max(map(len, answers), default=0)
    lines = []
    for row, place in enumerate(shown):
        verb = _LIKENESS[found.attrs["likeness"]]
        text = f"{texts[row]:<{wide}}  {answers[row]:>{many}} answers   "
        text += f"{verb} {decimal(float(agreed[place]), 2)}"
        text += f" (usual {decimal(usual, 2)})" if not row else " " * 12
        share, others = (
            float(found[f"annotator_says_{end}"].values[place]) for end in ("share", "others")
        )
        if share - others >= _OFTEN:
            label = quoted(found["annotator_says"].values[place])
            note = f"  says {label} to {_percent(share)}, others {_percent(others)}"
            if len(text.rstrip()) + len(note) > WIDTH:
                lines += [text.rstrip(), f"{'':<{wide}}{note}"]
                continue
            text += note
        lines.append(text.rstrip())
    return lines


def _nobody(found: xr.Dataset) -> str:
    if found.attrs["unknown"] == found.attrs["answers"]:
        return "annotations do not say who answered: annotators cannot be told apart"
    return "no annotator answered an example that another one answered, too"
