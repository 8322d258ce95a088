"""The models of crowd-kit: what each is, its parameters, and what is read of it.

Sets that are calibrated on plausibilities of these models cover *the label that the model believes
in*, not what an annotator would say, and an example's plausibilities depend on all other examples
of the table (`joint`). Votes are counted here where crowd-kit gives each annotator a weight, since
with scikit-learn 1.7 and later crowd-kit 1.4.2 does not count them.
"""

from __future__ import annotations

from typing import ClassVar, Literal

import attrs
import numpy as np
import xarray as xr

from plausibly.plugin import InputError, names
from plausibly_builtins.crowd_kit._adapter import (
    Answers,
    Column,
    CrowdKit,
    Estimator,
    Weighing,
)


@attrs.frozen(kw_only=True)
class DawidSkene(CrowdKit):
    """Plausibility of a label = its chance of being the one true label, by crowd-kit's DawidSkene.

    The model of plausibly's own `dawid-skene`, with `smoothing` 0 and another test of convergence:
    it stops where the lower bound of the log-likelihood of a response rises by less than
    `tolerance`. Of annotators none of whose examples can have some label, crowd-kit takes what they
    did say as certain, and plausibly every label as equally likely.

    Attributes
    ----------
    iterations : int
        The most iterations; it warns where that is too few.
    tolerance : float
        It stops where the bound rises by less.

    References
    ----------
    Dawid & Skene, Maximum likelihood estimation of observer error-rates using the EM algorithm,
    Applied Statistics 28 (1979), 20-28.
    """

    called: ClassVar[str] = "dawid-skene"
    model: ClassVar[str] = "DawidSkene"

    iterations: int = attrs.field(default=100, validator=attrs.validators.ge(1))
    tolerance: float = attrs.field(default=1e-5, validator=attrs.validators.gt(0.0))

    def _with_more(self, table: xr.Dataset, answers: Answers) -> xr.Dataset:
        """Return the table with the chances (annotator, label, said)."""
        labels = answers.rows.labels
        chance = np.full((answers.of_annotator.size, labels, labels), np.nan)
        if answers.estimator is not None:
            answered = np.unique(answers.annotator)
            chance[np.ix_(answered, answers.used)] = 0.0
            for (worker, text), row in answers.estimator.errors_.iterrows():
                column = answers.used[answers.texts.index(text)]
                chance[worker, answers.used, column] = row.reindex(answers.texts)
        dims = (names.ANNOTATOR, names.LABEL, "said")
        table = table.assign(confusion=(dims, chance[answers.of_annotator]))
        return table.assign_coords(said=answers.rows.table[names.LABEL].values)


@attrs.frozen(kw_only=True)
class OneCoin(CrowdKit):
    """Plausibility of a label = its chance of being the one true label, by OneCoinDawidSkene.

    The model of plausibly's own `one-coin`, with the priors `right` and `wrong` 0, for the labels
    in the answers, and another test of convergence: it stops where the lower bound of the
    log-likelihood of a response rises by less than `tolerance`.

    Attributes
    ----------
    iterations : int
        The most iterations; it warns where that is too few.
    tolerance : float
        It stops where the bound rises by less.

    References
    ----------
    Zhang, Chen, Zhou & Jordan, Spectral methods meet EM, JMLR 17 (2016), section 2.
    """

    called: ClassVar[str] = "one-coin"
    model: ClassVar[str] = "OneCoinDawidSkene"
    skilled: ClassVar[bool] = True

    iterations: int = attrs.field(default=100, validator=attrs.validators.ge(1))
    tolerance: float = attrs.field(default=1e-5, validator=attrs.validators.gt(0.0))


@attrs.frozen(kw_only=True)
class Glad(CrowdKit):
    """Plausibility of a label = its chance of being the one true label, by crowd-kit's GLAD.

    Annotator q says the true label of example i with chance ``s(a_q exp(b_i))``, s the logistic
    function, and each of the other labels in the answers with an equal share of the rest. The
    abilities a_q and easinesses b_i have Gaussian priors around 1; they and the chances are found
    together, by expectation maximisation with conjugate gradients inside.

    Attributes
    ----------
    iterations : int
        The most iterations; it warns where that is too few.
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

    iterations: int = attrs.field(default=100, validator=attrs.validators.ge(1))
    tolerance: float = attrs.field(default=1e-5, validator=attrs.validators.gt(0.0))
    steps: int = attrs.field(default=25, validator=attrs.validators.ge(1))

    def _with_more(self, table: xr.Dataset, answers: Answers) -> xr.Dataset:
        ability = np.full(answers.of_annotator.size, np.nan)
        if answers.estimator is not None:
            ability = answers.by_annotator(answers.estimator.alphas_)
        return table.assign(ability=(names.ANNOTATOR, ability))


@attrs.frozen(kw_only=True)
class Mace(CrowdKit):
    """Plausibility of a label = its chance of being the one true label, by crowd-kit's MACE.

    Annotator q knows the true label with chance ``t_q`` and says it; else they say what they always
    say: label l with chance ``x_ql``. All labels in the answers are as likely beforehand. It is
    estimated by variational Bayes, or by expectation maximisation, from a random start.

    The start belongs to places in the order of names. There is no test of convergence: it takes all
    iterations.

    Attributes
    ----------
    iterations : int
        How many.
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
    method: Literal["vb", "em"] = attrs.field(
        default="vb", validator=attrs.validators.in_(("vb", "em"))
    )
    guesses: float = attrs.field(default=0.5, validator=attrs.validators.gt(0.0))
    knows: float = attrs.field(default=0.5, validator=attrs.validators.gt(0.0))
    noise: float = attrs.field(default=0.5, validator=attrs.validators.ge(0.0))
    random_state: int = attrs.field(default=0, validator=attrs.validators.ge(0))

    def _with_more(self, table: xr.Dataset, answers: Answers) -> xr.Dataset:
        competence = np.full(answers.of_annotator.size, np.nan)
        if answers.estimator is not None:
            competence[np.unique(answers.annotator)] = answers.estimator.spamming_[:, 1]
        return table.assign(competence=(names.ANNOTATOR, competence[answers.of_annotator]))


@attrs.frozen(kw_only=True)
class Mmsr(Weighing):
    """Plausibility of a label = its chance, given the accuracies that crowd-kit's MMSR estimates.

    The accuracy ``c_q`` of each annotator is read off how often pairs of annotators agree, as a
    matrix of rank one, of which the most extreme entries are left out: some annotators may mislead.
    crowd-kit then adds up the weights ``g_q = log((L - 1) c_q / (1 - c_q))`` of those who say a
    label, L being the number of labels in the answers. These scores are no plausibilities:
    divided by their sum they may be negative. With equal chances beforehand they are logarithms::

        lambda_ik  =  exp(sum of g_q over those who say k)  /  the same, summed over labels

    which is the one-coin model with these accuracies.

    Attributes
    ----------
    iterations : int
        The most iterations; it warns where that is too few.
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
        return odds / (odds + answers.used.size - 1)


@attrs.frozen(kw_only=True)
class Kos(CrowdKit):
    """All plausibility on the label that crowd-kit's KOS infers: of two, the one that weighs more.

    Messages go between examples and annotators, from random weights. It gives labels alone: a row
    is one 1 and zeros. Where both labels weigh the same it gives none, and the table is refused. It
    does not say what an annotator is worth.

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
    most: ClassVar[int | None] = 2

    iterations: int = attrs.field(default=100, validator=attrs.validators.ge(1))
    random_state: int = attrs.field(default=0, validator=attrs.validators.ge(0))

    def _chances(self, answers: Answers, estimator: Estimator) -> Column:
        """Return 1 for the label that was inferred: (example, label in use)."""
        labels = estimator.labels_.reindex(np.arange(answers.rows.n)).to_numpy()
        texts = np.array(answers.texts, dtype=object)
        chances: Column = (labels[:, None] == texts).astype(np.float64)
        return chances

    def reliability(self, annotations: xr.Dataset) -> None:
        """Return None: it does not say what an annotator is worth."""

    def _estimated(self, annotations: xr.Dataset) -> tuple[Answers, dict[str, str]]:
        try:
            return super()._estimated(annotations)
        except InputError as error:
            if not isinstance(error.__cause__, KeyError):  # the sign 0, which is neither label's
                raise
            raise InputError(
                "kos-tied",
                "crowd-kit:kos finds two labels of an example of the same weight, and infers "
                "neither",
                expected="annotators who answered several examples, for each example",
                found="an example of which nothing speaks for one label",
                hint="aggregator worker-agreement or dawid-skene, which keep the tie",
                source="aggregator crowd-kit:kos",
            ) from error


@attrs.frozen(kw_only=True)
class Wawa(Weighing):
    """Plausibility of a label = the weight of those who chose it / the weight of all who answered.

    The weight of an annotator is how often they agree with the majority. Where labels tie for the
    most votes, that which comes first by annotator, then example, is the majority; plausibly's own
    `worker-agreement` shares the credit.

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
    Where labels tie for the most weight, one of them is the majority, that which comes first by
    annotator, then example.

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
