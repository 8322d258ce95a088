"""MACE: who knows the label, and who says what they always say."""

from __future__ import annotations

from typing import ClassVar, Literal

import attrs
import numpy as np
import xarray as xr

from plausibly.plugin import names
from plausibly_builtins.crowd_kit._estimated import CrowdKit, Estimated, estimated


@attrs.frozen(kw_only=True)
class Mace(CrowdKit):
    """Plausibility of a label = its chance of being the one true label, by crowd-kit's MACE.

    Annotator q knows the true label with chance ``t_q`` and says it; else they say what they always
    say: label l with chance ``x_ql``. All labels that anybody says are as likely beforehand. It is
    estimated by variational Bayes, or by expectation maximisation, from a random start.

    The start belongs to places in the order of names, so that an annotator of another name may
    start elsewhere. crowd-kit 1.4.2 starts all restarts alike, so there is one. There is no test of
    convergence: it takes all iterations.

    What sets cover that are calibrated on these plausibilities is *the label that the model
    believes in*, not what an annotator would say, and an example's plausibilities depend on all
    other examples of the table (`joint`).

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

    iterations: int = attrs.field(default=50, validator=attrs.validators.ge(1))
    method: Literal["vb", "em"] = attrs.field(
        default="vb", validator=attrs.validators.in_(("vb", "em"))
    )
    guesses: float = attrs.field(default=0.5, validator=attrs.validators.gt(0.0))
    knows: float = attrs.field(default=0.5, validator=attrs.validators.gt(0.0))
    noise: float = attrs.field(default=0.5, validator=attrs.validators.ge(0.0))
    random_state: int = attrs.field(default=0, validator=attrs.validators.ge(0))

    def reliability(self, annotations: xr.Dataset) -> xr.Dataset:
        """Return what each annotator is worth."""
        found = self._estimated(annotations)
        given = found.given
        competence = np.full(given.everybody.size, np.nan)
        if found.estimator is not None:
            who = np.unique(given.annotator)
            competence[who] = found.estimator.spamming_[:, 1]
        return given.reliability(
            given.right(found.chances),
            competence=xr.Variable(names.ANNOTATOR, competence[given.of_annotator]),
        )

    def _estimated(self, annotations: xr.Dataset) -> Estimated:
        return estimated(
            annotations,
            self.called,
            "MACE",
            {
                "n_restarts": 1,
                "n_iter": self.iterations,
                "method": self.method,
                "alpha": self.guesses,
                "beta": self.knows,
                "default_noise": self.noise,
                "random_state": self.random_state,
            },
        )
