"""What an estimator is asked for too early, or several times at once."""

from __future__ import annotations

from typing import cast

from sklearn.exceptions import NotFittedError

from plausibly.calibration.alphas import AlphaLike, Alphas, is_several, read_alphas
from plausibly.errors import InputError


class NotConformalized(InputError, NotFittedError):  # type: ignore[misc]  # both name `name`; untyped
    """Prediction sets were asked for before `conformalize`; scikit-learn's `NotFittedError`."""


def not_conformalized(whose: str, *, fitted: bool) -> NotConformalized:
    """Return the error, with what is to be done first.

    Parameters
    ----------
    whose : str
        Name of the estimator.
    fitted : bool
        Whether there is a model already.
    """
    first = "" if fitted else "fit(X_train, y_train), or estimator=FrozenEstimator(model); then "
    return NotConformalized(
        "not-conformalized",
        f"{whose} is not calibrated yet",
        expected="conformalize before sets, p-values and guarantees",
        got="a fitted model" if fitted else "no model",
        do=f"{first}conformalize(X_calibration, annotations)",
        whose=whose,
    )


def one_alpha(alpha: Alphas) -> AlphaLike:
    """Return the only alpha there is.

    Raises
    ------
    InputError
        ``alpha-several``.
    """
    if is_several(alpha):
        raise InputError(
            "alpha-several",
            "the estimator has several alphas, and one is wanted here",
            expected="one alpha",
            got=", ".join(str(float(one)) for one in read_alphas(alpha)),
            do="alpha=0.1",
            whose="alpha",
        )
    return cast("AlphaLike", alpha)
