"""The models of crowd-kit: answers as it reads them, and what it estimates as plausibilities.

crowd-kit takes a frame with one row per response, and its results may depend on the order of rows
and on the names of labels. So it gets codes in place of names, in an order that belongs to names
alone, and its results come back by code. Votes are counted here where crowd-kit gives each
annotator a weight, since with scikit-learn 1.7 and later crowd-kit 1.4.2 does not count them.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar, Literal

import attrs
import numpy as np
import pandas as pd
import xarray as xr

from plausibly.plugin import Aggregator, InputError, Keys, listed, names, require, several
from plausibly_builtins.aggregation import Codes, Column, convergence, example_names
from plausibly_builtins.crowd_models.models import Cells

Estimator = Any  # Any: crowd-kit is optional, and unknown to a type checker without it

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
    """Answers as rows for crowd-kit, each as often as it counts, and what it made of them.

    Places of examples, annotators and labels are those of `cells`. Labels have texts, which
    crowd-kit mistakes for nothing else.
    """

    cells: Cells
    frame: pd.DataFrame  # task, worker, label; sorted by worker, then task
    texts: dict[str, int]  # of labels in use, in the order in which they first come: their place
    estimator: Estimator | None = None  # None where all answers are one label
    chances: Column  # (label, example)

    @classmethod
    def of(cls, cells: Cells, times: Codes) -> Answers:
        order = np.argsort(cells.annotator, kind="stable")
        label, used = pd.factorize(cells.label[order])
        texts = {f"label{code:06}": int(place) for code, place in enumerate(used)}
        columns = {
            "task": cells.example[order],
            "worker": cells.annotator[order],
            "label": np.array([*texts], dtype=object)[label],
        }
        frame = pd.DataFrame({name: np.repeat(of, times[order]) for name, of in columns.items()})
        chances = np.zeros((cells.labels, cells.rows.n))
        chances[used] = 1.0
        return cls(cells=cells, frame=frame, texts=texts, chances=chances)

    @property
    def used(self) -> Codes:
        """Places of the labels in use."""
        return np.array(list(self.texts.values()), np.intp)

    def by_annotator(self, series: pd.Series[Any]) -> Column:  # Any: of numbers
        """Return a series of workers by annotator: (annotator,); NaN without an answer."""
        return series.reindex(np.arange(self.cells.annotators)).to_numpy(np.float64)


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

    def __attrs_post_init__(self) -> None:
        """Refuse where crowd-kit is not installed, before any file is read."""
        require("crowdkit", extra="crowd", source=self._source)

    @property
    def _source(self) -> str:
        return f"aggregator crowd-kit:{self.called}"

    def aggregate(self, annotations: xr.Dataset, keys: Keys) -> xr.DataArray:
        answers, attributes = self._estimated(annotations)
        values, cells = answers.chances, answers.cells
        bad = ~np.isfinite(values).all(axis=0) | (values < 0).any(axis=0)
        sums = np.where(bad, 1.0, values[answers.used].T.sum(axis=1))
        bad |= sums <= 0
        if bad.any():
            shown = example_names(cells.rows, np.flatnonzero(bad[cells.of_example]))
            raise self._failure(f"none for {several(len(shown), 'example')} ({listed(shown)})")
        return cells.rows.plausibilities(cells.as_table(values / sums)).assign_attrs(attributes)

    def reliability(self, annotations: xr.Dataset) -> xr.Dataset | None:
        answers, attributes = self._estimated(annotations)
        table = answers.cells.reliability(self._worth(answers))
        return self._with_more(table, answers).assign_attrs(attributes)

    def _worth(self, answers: Answers) -> Column:
        """Return the chance of each annotator to be right: (annotator,)."""
        if self.skilled and answers.estimator is not None:
            return answers.by_annotator(answers.estimator.skills_)
        with np.errstate(invalid="ignore"):
            share: Column = answers.cells.right(answers.chances) / answers.cells.responses
        return share

    def _with_more(self, table: xr.Dataset, answers: Answers) -> xr.Dataset:
        return table

    def _estimated(self, annotations: xr.Dataset) -> tuple[Answers, dict[str, str]]:
        """Return answers with what an estimator made of them, and how it converged."""
        library = require("crowdkit.aggregation", extra="crowd", source=self._source)
        cells = Cells.of(annotations, self.accepts, "error", f"crowd-kit:{self.called}")
        times = np.rint(cells.weight).astype(np.intp)
        odd = cells.weight != (times if self.repeats else 1)
        if odd.any():
            fine = "a whole number of times" if self.repeats else "once"
            raise InputError(
                "weights-broken",
                f"crowd-kit:{self.called} reads single responses, and the annotations have others",
                expected=f"responses that count {fine}",
                found=f"{names.RESPONSE_WEIGHT} {cells.weight[odd][0]:g}",
                hint="dawid-skene, one-coin or worker-agreement, which take any weight",
                source=self._source,
            )
        answers = Answers.of(cells, times)
        if len(answers.texts) < 2:
            return answers, {}
        options = attrs.asdict(self, recurse=False)
        parameters = {_THEIRS.get(name, name): value for name, value in options.items()}
        with self._apart():
            estimator = getattr(library, self.model)(**parameters, **self.fixed).fit(answers.frame)
        chances = np.zeros_like(answers.chances)
        chances[answers.used] = self._chances(answers, estimator).T
        attributes = self._convergence(estimator, **options) if "tolerance" in options else {}
        return attrs.evolve(answers, estimator=estimator, chances=chances), attributes

    def _chances(self, answers: Answers, estimator: Estimator) -> Column:
        """Return what a fitted estimator says of labels: (example, label in use)."""
        examples, texts = np.arange(answers.cells.rows.n), list(answers.texts)
        ordered = estimator.probas_.reindex(index=examples, columns=texts)
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

    def _failure(self, found: str) -> InputError:
        """Return the error ``crowd-kit-failed``: what crowd-kit raised or gave, and a way out."""
        library = require("crowdkit", extra="crowd", source=self._source)
        return InputError(
            "crowd-kit-failed",
            f"crowd-kit {library.__version__} gives no plausibilities by {self.called}",
            expected="plausibilities of every example",
            found=" ".join(found.split()),
            hint="aggregator dawid-skene, one-coin or worker-agreement, which are plausibly's own",
            source=self._source,
        )

    def _convergence(
        self, estimator: Estimator, *, iterations: int, tolerance: float, **_: object
    ) -> dict[str, str]:
        """Return what result tables say of the estimate, and warn where it was stopped early."""
        history = [float(loss) for loss in estimator.loss_history_]
        before = history[-2] if len(history) > 1 else 0.0
        change = history[-1] if self.absolute else max(history[-1] - before, 0.0)
        early = len(history) >= iterations and (change >= tolerance or len(history) == 1)
        called = f"crowd-kit:{self.called}"
        return convergence(called, len(history), change, tolerance, settled=not early)


@attrs.frozen(kw_only=True)
class Converging(CrowdKit):
    """A model that stops where the likelihood hardly rises.

    Attributes
    ----------
    iterations : int
        The most iterations; it warns where that is too few.
    tolerance : float
        It stops where the lower bound of the log-likelihood of a response rises by less.
    """

    iterations: int = attrs.field(default=100, validator=attrs.validators.ge(1))
    tolerance: float = attrs.field(default=1e-5, validator=attrs.validators.gt(0.0))


@attrs.frozen(kw_only=True)
class Weighing(CrowdKit):
    """An aggregator of crowd-kit of which the skills alone are read: votes are counted here."""

    repeats: ClassVar[bool] = False
    skilled: ClassVar[bool] = True

    def _chances(self, answers: Answers, estimator: Estimator) -> Column:
        """Return the sums of the skills of those who say a label."""
        worth = np.nan_to_num(answers.by_annotator(estimator.skills_))
        return answers.cells.weighted(worth)[answers.used].T


@attrs.frozen(kw_only=True)
class DawidSkene(Converging):
    """Plausibility of a label = its chance of being the one true label, by crowd-kit's DawidSkene.

    The model of plausibly's own `dawid-skene`, with `smoothing` 0 and another test of convergence.
    Of annotators none of whose examples can have some label, crowd-kit takes what they did say as
    certain, and plausibly every label as equally likely.

    References
    ----------
    Dawid & Skene, Maximum likelihood estimation of observer error-rates using the EM algorithm,
    Applied Statistics 28 (1979), 20-28.
    """

    called: ClassVar[str] = "dawid-skene"
    model: ClassVar[str] = "DawidSkene"

    def _with_more(self, table: xr.Dataset, answers: Answers) -> xr.Dataset:
        """Return the table with the chances (annotator, label, said)."""
        cells = answers.cells
        chance = np.full((cells.annotators, cells.labels, cells.labels), np.nan)
        if answers.estimator is not None:
            chance[np.ix_(np.unique(cells.annotator), answers.used)] = 0.0
            for (worker, text), row in answers.estimator.errors_.iterrows():
                chance[worker, answers.used, answers.texts[text]] = row.reindex(list(answers.texts))
        return cells.with_confusion(table, chance)


@attrs.frozen(kw_only=True)
class OneCoin(Converging):
    """Plausibility of a label = its chance of being the one true label, by OneCoinDawidSkene.

    The model of plausibly's own `one-coin`, with the priors `right` and `wrong` 0, for the labels
    in the answers, and another test of convergence.

    References
    ----------
    Zhang, Chen, Zhou & Jordan, Spectral methods meet EM, JMLR 17 (2016), section 2.
    """

    called: ClassVar[str] = "one-coin"
    model: ClassVar[str] = "OneCoinDawidSkene"
    skilled: ClassVar[bool] = True


@attrs.frozen(kw_only=True)
class Glad(Converging):
    """Plausibility of a label = its chance of being the one true label, by crowd-kit's GLAD.

    Annotator q says the true label of example i with chance ``s(a_q exp(b_i))``, s the logistic
    function, and each of the other labels with an equal share of the rest; abilities a_q and
    easinesses b_i have Gaussian priors around 1 (EM with conjugate gradients inside).

    Attributes
    ----------
    tolerance : float
        It stops where the expected log-likelihood of a response rises by less.
    steps : int
        Steps of the conjugate gradients in each iteration.

    References
    ----------
    Whitehill, Ruvolo, Wu, Bergsma & Movellan, Whose vote should count more, NeurIPS 2009.
    """

    called: ClassVar[str] = "glad"
    model: ClassVar[str] = "GLAD"

    steps: int = attrs.field(default=25, validator=attrs.validators.ge(1))

    def _with_more(self, table: xr.Dataset, answers: Answers) -> xr.Dataset:
        ability = np.full(answers.cells.annotators, np.nan)
        if answers.estimator is not None:
            ability = answers.by_annotator(answers.estimator.alphas_)
        return table.assign(ability=(names.ANNOTATOR, ability[answers.cells.of_annotator]))


@attrs.frozen(kw_only=True)
class Mace(CrowdKit):
    """Plausibility of a label = its chance of being the one true label, by crowd-kit's MACE.

    Annotator q knows the true label with chance ``t_q`` and says it; else they say label l with
    chance ``x_ql``. It is estimated from a random start.

    Attributes
    ----------
    iterations : int
        How many; there is no test of convergence.
    method : {"vb", "em"}
        Variational Bayes, with the priors below, or expectation maximisation.
    guesses, knows : float
        Of the Beta prior of ``1 - t_q`` and ``t_q``.
    noise : float
        How far the random start is from an even one.
    random_state : int
        Of the random start; `seed` has no part in it.

    References
    ----------
    Hovy, Berg-Kirkpatrick, Vaswani & Hovy, Learning whom to trust with MACE, NAACL 2013.
    """

    called: ClassVar[str] = "mace"
    model: ClassVar[str] = "MACE"
    fixed: ClassVar[dict[str, int]] = {"n_restarts": 1}

    iterations: int = attrs.field(default=50, validator=attrs.validators.ge(1))
    method: Literal["vb", "em"] = "vb"
    guesses: float = attrs.field(default=0.5, validator=attrs.validators.gt(0.0))
    knows: float = attrs.field(default=0.5, validator=attrs.validators.gt(0.0))
    noise: float = attrs.field(default=0.5, validator=attrs.validators.ge(0.0))
    random_state: int = attrs.field(default=0, validator=attrs.validators.ge(0))

    def _with_more(self, table: xr.Dataset, answers: Answers) -> xr.Dataset:
        competence = np.full(answers.cells.annotators, np.nan)
        if answers.estimator is not None:
            competence[np.unique(answers.cells.annotator)] = answers.estimator.spamming_[:, 1]
        return table.assign(competence=(names.ANNOTATOR, competence[answers.cells.of_annotator]))


@attrs.frozen(kw_only=True)
class Mmsr(Converging, Weighing):
    """Plausibility of a label = its chance, given the accuracies that crowd-kit's MMSR estimates.

    The accuracy ``c_q`` of each annotator is read off how often pairs of annotators agree, as a
    matrix of rank one, of which the most extreme entries are left out: some annotators may mislead.
    crowd-kit then adds up the weights ``g_q = log((L - 1) c_q / (1 - c_q))`` of those who say a
    label, L being the number of labels in the answers. With equal chances beforehand::

        lambda_ik  =  exp(sum of g_q over those who say k)  /  the same, summed over labels

    Attributes
    ----------
    tolerance : float
        It stops where the matrix changes by less.
    random_state : int
        Of the random start; `seed` has no part in it.

    References
    ----------
    Ma & Olshevsky, Adversarial crowdsourcing through robust rank-one matrix completion, NeurIPS
    2020.
    """

    called: ClassVar[str] = "mmsr"
    model: ClassVar[str] = "MMSR"
    absolute: ClassVar[bool] = True

    iterations: int = attrs.field(default=10_000, validator=attrs.validators.ge(1))
    tolerance: float = attrs.field(default=1e-10, validator=attrs.validators.gt(0.0))
    random_state: int = attrs.field(default=0, validator=attrs.validators.ge(0))

    def _chances(self, answers: Answers, estimator: Estimator) -> Column:
        """Return the softmax of the summed weights: (example, label in use)."""
        logs = super()._chances(answers, estimator)
        chances: Column = np.exp(logs - logs.max(axis=1, keepdims=True))
        chances /= chances.sum(axis=1, keepdims=True)
        return chances

    def _worth(self, answers: Answers) -> Column:
        worth = super()._worth(answers)
        if answers.estimator is None:
            return worth
        odds: Column = np.exp(worth)
        return odds / (odds + len(answers.texts) - 1)


@attrs.frozen(kw_only=True)
class Kos(CrowdKit):
    """All plausibility on the label that crowd-kit's KOS infers: of two, the one that weighs more.

    Messages go between examples and annotators, from random weights. Tables are refused where both
    labels of an example weigh the same, or with more than two labels in the answers.

    Attributes
    ----------
    iterations : int
        How many; there is no test of convergence.
    random_state : int
        Of the random weights at the start; `seed` has no part in it.

    References
    ----------
    Karger, Oh & Shah, Budget-optimal task allocation for reliable crowdsourcing systems, Operations
    Research 62 (2014), 1-24.
    """

    called: ClassVar[str] = "kos"
    model: ClassVar[str] = "KOS"
    repeats: ClassVar[bool] = False

    iterations: int = attrs.field(default=100, validator=attrs.validators.ge(1))
    random_state: int = attrs.field(default=0, validator=attrs.validators.ge(0))

    def _chances(self, answers: Answers, estimator: Estimator) -> Column:
        """Return 1 for the label that was inferred: (example, label in use)."""
        labels = estimator.labels_.reindex(np.arange(answers.cells.rows.n)).to_numpy()
        texts = np.array([*answers.texts], dtype=object)
        chances: Column = (labels[:, None] == texts).astype(np.float64)
        return chances

    def reliability(self, annotations: xr.Dataset) -> None:
        """Return None: it does not say what an annotator is worth."""


@attrs.frozen(kw_only=True)
class Wawa(Weighing):
    """Plausibility of a label = the weight of those who chose it / the weight of all who answered.

    The weight of an annotator is how often they agree with the majority. Where labels tie, the
    first by annotator, then example, is the majority; `worker-agreement` shares the credit.

    References
    ----------
    "Worker agreement with aggregate" (Wawa), as crowdsourcing platforms use it.
    """

    called: ClassVar[str] = "wawa"
    model: ClassVar[str] = "Wawa"


@attrs.frozen(kw_only=True)
class ZeroBasedSkill(Weighing):
    """Plausibility of a label = the weight of those who chose it / the weight of all who answered.

    All weights start just above a guess; each iteration moves them towards how often an annotator
    agrees with the majority by the weights before, at a rate that halves every 20 iterations.

    Attributes
    ----------
    iterations : int
        How many; there is no test of convergence.
    rate : float
        Share of the way that weights move at first.

    References
    ----------
    Zero-based skill, as crowd-kit describes it.
    """

    called: ClassVar[str] = "zero-based-skill"
    model: ClassVar[str] = "ZeroBasedSkill"

    iterations: int = attrs.field(default=100, validator=attrs.validators.ge(1))
    rate: float = attrs.field(
        default=1.0, validator=[attrs.validators.gt(0.0), attrs.validators.le(1.0)]
    )
