"""What scores that add probabilities up ask of what they are given."""

from __future__ import annotations

import numpy as np

from plausibly.plugin import Floats, IncompatibleComponents, InputError


def require_masses(probabilities: Floats, name: str) -> None:
    """Raise `IncompatibleComponents` where numbers cannot be shares of probability."""
    least = probabilities.min(initial=0.0)
    if least < 0:
        raise IncompatibleComponents(
            "scale-unsuitable",
            f"score {name} adds probabilities up, and the predictions fall below 0",
            expected="scale probability, logit or independent",
            got=f"{least:.4g}",
            do="score margin or rank, or say scale='logit' (--scale logit) if they are logits",
            whose=f"score {name}",
        )


def read_uniform(probabilities: Floats, uniform: Floats | None, name: str) -> Floats:
    """Return the uniforms of a randomised score as float64."""
    wanted = (*probabilities.shape[:-1], 1)
    if uniform is None:
        raise InputError(
            "uniform-missing",
            f"score {name} is randomised, and was given no uniforms",
            expected=f"one uniform an example, of shape {wanted}",
            do=f'uniform=..., or score "{name}" without randomised = true',
            whose=f"score {name}",
        )
    draws = np.asarray(uniform, dtype=np.float64)
    within = (draws >= 0) & (draws <= 1)
    if draws.shape != wanted or not within.all():
        shaped = draws.shape == wanted
        raise InputError(
            "uniform-malformed",
            f"score {name} was given uniforms that it cannot use",
            expected=f"one number from 0 to 1 an example, of shape {wanted}",
            got=f"{draws[~within][0]:.4g}" if shaped else f"shape {draws.shape}",
            do=f"uniform=numpy.random.default_rng(0).random({wanted})",
            whose=f"score {name}",
        )
    return draws
