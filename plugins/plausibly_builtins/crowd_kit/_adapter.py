"""Responses as crowd-kit reads them, what it estimates as plausibilities, and what goes wrong.

crowd-kit takes a frame with one row per response, and its results may hang on the order of rows and
on what labels are called. So it gets codes in place of names, in an order that belongs to names
alone, and its results come back by code: with every example and label of the table.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import metadata
from typing import Any, ClassVar

import attrs
import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from plausibly.plugin import (
    Aggregator,
    InputError,
    Keys,
    Rows,
    answered_rows,
    counted,
    listed,
    names,
    require,
    several,
    warn,
)
from plausibly_builtins.aggregation import by_name, example_names, summed

Column = NDArray[np.float64]
Codes = NDArray[np.intp]
Estimator = Any  # Any: crowd-kit is optional, and unknown to a type checker without it

_INSTEAD = {
    "one-coin": "one-coin",
    "wawa": "worker-agreement",
    "zero-based-skill": "worker-agreement",
}
_THEIRS = {
    "iterations": "n_iter",
    "tolerance": "tol",
    "steps": "m_step_max_iter",
    "guesses": "alpha",
    "knows": "beta",
    "noise": "default_noise",
    "rate": "lr_init",
}
"""What crowd-kit calls a parameter, where it calls it otherwise."""


@attrs.frozen(kw_only=True, eq=False)
class Answers:
    """The responses of a table that name a label, each in as many rows as it counts times.

    `estimator` and `chances` are what crowd-kit made of them; None and 1 where all have one label.
    """

    rows: Rows
    example: Codes  # by their place in the order of names, as annotators
    annotator: Codes  # rows are sorted by annotator, then example
    label: Codes  # in the order in which they first come
    used: Codes  # of each label in use, the code in the table
    of_example: Codes  # the places of all examples of the table
    of_annotator: Codes
    estimator: Estimator | None = None
    chances: Column  # (example, label in use)

    @classmethod
    def of(cls, rows: Rows, called: str, *, repeats: bool) -> Answers:
        counts = rows.weight[rows.response] > 0
        response = rows.response[counts]
        who = rows.annotator[response]
        if unknown := int((who < 0).sum()):
            raise InputError(
                "annotators-anonymous",
                f"annotations: {counted(unknown)} of {several(who.size, 'response')} "
                f"{'is' if unknown == 1 else 'are'} of unknown annotators",
                expected=f"annotators by name: {called} estimates what each is worth",
                found="responses without one",
                hint="plausibly.select_annotations(ann, annotator=ann.annotator.values) leaves "
                "them out; dawid-skene takes them as one annotator",
                source="annotations",
                details={"responses": unknown},
            )
        weight = rows.weight[response]
        odd = weight != np.rint(weight) if repeats else weight != 1
        if odd.any():
            fine = "a whole number of times" if repeats else "once"
            raise InputError(
                "weights-broken",
                f"{called} counts rows, and {several(int(odd.sum()), 'response')} of the "
                f"annotations {'does' if odd.sum() == 1 else 'do'} not count {fine}",
                expected=f"responses that count {fine}",
                found=f"{names.RESPONSE_WEIGHT} {weight[odd][0]:g}",
                hint="dawid-skene, one-coin or worker-agreement, which take any weight",
                source=f"aggregator {called}",
            )
        of_example, of_annotator = (by_name(rows, dim) for dim in (names.EXAMPLE, names.ANNOTATOR))
        example, annotator = of_example[rows.example[response]], of_annotator[who]
        order = np.lexsort((example, annotator))
        label, used = pd.factorize(rows.label[counts].astype(np.intp)[order])
        times = np.rint(weight).astype(np.intp)[order]
        return cls(
            rows=rows,
            example=np.repeat(example[order], times),
            annotator=np.repeat(annotator[order], times),
            label=np.repeat(label, times),
            used=used,
            of_example=of_example,
            of_annotator=of_annotator,
            chances=np.ones((rows.n, used.size)),
        )

    @property
    def texts(self) -> list[str]:
        """Names of the labels for crowd-kit: texts, which it mistakes for nothing else."""
        return [f"label{code:06}" for code in range(self.used.size)]

    @property
    def frame(self) -> pd.DataFrame:
        """Columns task, worker and label, with codes."""
        texts = np.array(self.texts, dtype=object)
        return pd.DataFrame(
            {"task": self.example, "worker": self.annotator, "label": texts[self.label]}
        )

    def by_annotator(self, series: pd.Series[Any]) -> Column:  # Any: of numbers
        """Return crowd-kit's series of workers for the annotators of the table; NaN without one."""
        values: Column = series.reindex(self.of_annotator).to_numpy(np.float64)
        return values


@attrs.frozen(kw_only=True)
class CrowdKit(Aggregator):
    """An aggregator of crowd-kit: classes differ in its parameters, and in what they read."""

    accepts: ClassVar[frozenset[str]] = frozenset({"single-label"})
    joint: ClassVar[bool] = True
    called: ClassVar[str]
    model: ClassVar[str]  # its name in crowd-kit
    fixed: ClassVar[dict[str, int]] = {}  # parameters that are no fields
    repeats: ClassVar[bool] = True  # takes a response twice
    absolute: ClassVar[bool] = False  # losses are changes
    skilled: ClassVar[bool] = False  # gives each annotator a skill
    most: ClassVar[int | None] = None  # labels

    def __attrs_post_init__(self) -> None:
        """Refuse where crowd-kit is not installed, before any file is read."""
        require("crowdkit", extra="crowd", source=self._source)

    @property
    def _source(self) -> str:
        return f"aggregator crowd-kit:{self.called}"

    def aggregate(self, annotations: xr.Dataset, keys: Keys) -> xr.DataArray:
        answers, attributes = self._estimated(annotations)
        values, rows = answers.chances, answers.rows
        bad = ~np.isfinite(values).all(axis=1) | (values < 0).any(axis=1)
        sums = np.where(bad, 1.0, values.sum(axis=1))
        bad |= sums <= 0
        if bad.any():
            shown = example_names(rows, np.flatnonzero(bad[answers.of_example]))
            found = f"none for {several(len(shown), 'example')} ({listed(shown)})"
            raise self._failure(found, details={"examples": shown})
        table = np.zeros((rows.n, rows.labels))
        table[:, answers.used] = (values / sums[:, None])[answers.of_example]
        return rows.plausibilities(table).assign_attrs(attributes)

    def reliability(self, annotations: xr.Dataset) -> xr.Dataset | None:
        answers, attributes = self._estimated(annotations)
        known = answers.rows.table.coords
        table = xr.Dataset(
            {names.WEIGHT: (names.ANNOTATOR, self._worth(answers))},
            coords={name: known[name].variable for name in (names.ANNOTATOR, names.LABEL)},
        )
        return self._with_more(table, answers).assign_attrs(attributes)

    def _worth(self, answers: Answers) -> Column:
        """Return the chance of each annotator to be right: (annotator,)."""
        if self.skilled and answers.estimator is not None:
            return answers.by_annotator(answers.estimator.skills_)
        size = answers.of_annotator.size
        right = np.bincount(
            answers.annotator, answers.chances[answers.example, answers.label], size
        )
        with np.errstate(invalid="ignore"):
            share = right / np.bincount(answers.annotator, minlength=size)
        worth: Column = share[answers.of_annotator]
        return worth

    def _with_more(self, table: xr.Dataset, answers: Answers) -> xr.Dataset:
        return table

    def _estimated(self, annotations: xr.Dataset) -> tuple[Answers, dict[str, str]]:
        """Return answers with what an estimator made of them, and how it converged."""
        library = require("crowdkit.aggregation", extra="crowd", source=self._source)
        rows = answered_rows(annotations, self.accepts)
        answers = Answers.of(rows, f"crowd-kit:{self.called}", repeats=self.repeats)
        count = answers.used.size
        if count < 2:
            return answers, {}
        if self.most is not None and count > self.most:
            raise InputError(
                "labels-too-many",
                f"crowd-kit:{self.called} reads answers between {self.most} labels, and "
                f"{counted(count)} are in the answers",
                expected=f"{self.most} labels",
                found=counted(count),
                hint="aggregator crowd-kit:mmsr, crowd-kit:glad or dawid-skene",
                source=self._source,
            )
        options = attrs.asdict(self, recurse=False)
        parameters = {_THEIRS.get(name, name): value for name, value in options.items()}
        with self._apart():
            estimator = getattr(library, self.model)(**parameters, **self.fixed).fit(answers.frame)
        chances = self._chances(answers, estimator)
        attributes = self._convergence(estimator, **options) if "tolerance" in options else {}
        return attrs.evolve(answers, estimator=estimator, chances=chances), attributes

    def _chances(self, answers: Answers, estimator: Estimator) -> Column:
        """Return what a fitted estimator says of labels: (example, label in use)."""
        ordered = estimator.probas_.reindex(index=np.arange(answers.rows.n), columns=answers.texts)
        values: Column = ordered.to_numpy(np.float64)
        return values

    @contextmanager
    def _apart(self) -> Iterator[None]:
        """Keep crowd-kit's warnings and its use of the global random state to itself."""
        state = np.random.get_state()  # noqa: NPY002  # crowd-kit seeds it, and others may use it
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                yield
        except Exception as error:  # any exception of crowd-kit becomes one message
            raise self._failure(f"{type(error).__name__}: {error}") from error
        finally:
            np.random.set_state(state)  # noqa: NPY002  # as it was before

    def _failure(self, found: str, details: dict[str, object] | None = None) -> InputError:
        """Return the error ``crowd-kit-failed``: what crowd-kit raised or gave, and a way out."""
        library = require("crowdkit", extra="crowd", source=self._source)
        version = f"crowd-kit {library.__version__}"
        instead = _INSTEAD.get(self.called, "dawid-skene")
        hint = f"aggregator {instead}, which is plausibly's own"
        expected = "plausibilities of every example"
        if "__sklearn_tags__" in found:
            expected = f"a scikit-learn that {version} fits, such as 1.6"
            found = f"scikit-learn {metadata.version('scikit-learn')}"
            hint += '; or pip install "scikit-learn<1.7"'
        return InputError(
            "crowd-kit-failed",
            f"{version} gives no plausibilities by {self.called}",
            expected=expected,
            found=" ".join(found.split()),
            hint=hint,
            source=self._source,
            details=details,
        )

    def _convergence(
        self, estimator: Estimator, *, iterations: int, tolerance: float, **_: object
    ) -> dict[str, str]:
        """Return what result tables say of the estimate, and warn where it was stopped early."""
        history = [float(loss) for loss in estimator.loss_history_]
        before = history[-2] if len(history) > 1 else 0.0
        change = history[-1] if self.absolute else max(history[-1] - before, 0.0)
        facts = {"iterations": len(history), "change": change, "tolerance": tolerance}
        if len(history) >= iterations and (change >= tolerance or len(history) == 1):
            warn(
                "not-converged",
                f"crowd-kit:{self.called} has not converged: in iteration "
                f"{counted(len(history))} what it maximises still changes by {change:.2g}",
                expected=f"changes below {tolerance:g}",
                hint=f"iterations = {iterations * 10}",
                source=self._source,
                details=facts,
                stacklevel=3,
            )
        return {names.CONVERGENCE: json.dumps({**facts, "objective": history[-1]})}


@attrs.frozen(kw_only=True)
class Weighing(CrowdKit):
    """An aggregator of crowd-kit of which the skills alone are read: votes are counted here."""

    repeats: ClassVar[bool] = False
    skilled: ClassVar[bool] = True

    def _chances(self, answers: Answers, estimator: Estimator) -> Column:
        """Return the sums of the skills of those who say a label."""
        worth = estimator.skills_.reindex(answers.annotator).fillna(0.0).to_numpy(np.float64)
        n, size = answers.rows.n, answers.used.size
        cells = answers.example * size + answers.label
        return summed(cells, worth, n * size).reshape(n, size)
