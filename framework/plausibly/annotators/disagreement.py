"""Over which labels do experts part: how often two answers to one example are these two labels."""

from __future__ import annotations

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly.annotators.agreement_answers import SINGLE, Answers
from plausibly.annotators.agreement_resampling import matrix
from plausibly.data import names
from plausibly.data.names import several, text_array
from plausibly.errors import InputError
from plausibly.evaluation.inputs import as_plausibilities
from plausibly.kernels.random import hash_names

TOGETHER = "together"
OTHER = "other"


def label_disagreement(opinions: xr.DataArray | xr.Dataset) -> xr.Dataset:
    """Return how often two answers to one example are each pair of labels.

    Parameters
    ----------
    opinions : Dataset or DataArray
        An annotation table, or plausibilities (example, label), dense or packed. Answers of single
        labels are compared with each other. Tables of other kinds are aggregated by the default of
        their kind, and two labels are drawn from the plausibilities of an example.

    Returns
    -------
    Dataset
        `together`, (label, other): the probability that the first of two answers to an example is
        `label` and the second `other`; it is symmetric and sums to 1, and its diagonal sums to the
        share of pairs that agree. `share`, (label): how often a label is said. `examples`,
        (label, other): to how many examples both are said. Attributes: `n` examples, `compared` of
        them, and `pairs`, of what: ``answers`` or ``draws``.

    Raises
    ------
    InputError
        ``pairs-none`` where no example has two answers, and what is wrong with the input.

    Notes
    -----
    With d_i answers to example i, of which c_ik say k, a pair is any two of them, and examples with
    one answer are left out: ``mean_i c_ik (c_il - 1[k = l]) / (d_i (d_i - 1))``. Of plausibilities
    both labels are drawn, ``mean_i lambda_ik lambda_il``: an answer then also meets itself, so that
    few answers behind the plausibilities look more agreed than they are.
    """
    kind = opinions.attrs.get(names.KIND)
    if isinstance(opinions, xr.Dataset) and names.RESPONSE_EXAMPLE in opinions and kind == SINGLE:
        return _of_answers(Answers.of(opinions))
    lam = as_plausibilities(opinions)
    # The order of the rows must not reach the last bits of the sums.
    order = np.argsort(hash_names(lam[names.EXAMPLE].values), kind="stable")
    values = lam.values[order].astype(np.float64)
    said = (values > 0).astype(np.float64)
    labels = list(map(str, lam[names.LABEL].values))
    n = len(values)
    return _result(labels, values.T @ values / n, said.T @ said, n, n, "draws")


def _of_answers(answers: Answers) -> xr.Dataset:
    """Return the shares of pairs of different answers to the same example."""
    compared = int(answers.paired.sum())
    if not compared:
        raise InputError(
            "pairs-none",
            f"none of {several(answers.n, 'example')} has two answers",
            expected="two answers or more to an example",
            got="one each",
            do='plausibly.aggregate(annotations, "dawid-skene"), and what that gives',
            whose="annotations",
        )
    kept = answers.paired[answers.support_example]
    example, label = answers.support_example[kept], answers.support_label[kept]
    counts = answers.named[kept].astype(np.float64)
    shape = (answers.n, len(answers.labels))
    each = answers.answers[example].astype(np.float64)
    some = matrix(counts, example, label, shape)
    shares = matrix(counts / (each * (each - 1)), example, label, shape)
    # An answer makes no pair with itself.
    together = (shares.T @ some).toarray() - np.diag(np.asarray(shares.sum(axis=0)).ravel())
    said = matrix(np.ones(len(counts)), example, label, shape)
    both = (said.T @ said).toarray()
    return _result(answers.labels, together / compared, both, answers.n, compared, "answers")


def _result(
    labels: list[str],
    together: NDArray[np.float64],
    both: NDArray[np.float64],
    n: int,
    compared: int,
    pairs: str,
) -> xr.Dataset:
    named = text_array(labels)
    return xr.Dataset(
        {
            TOGETHER: ((names.LABEL, OTHER), together),
            "share": (names.LABEL, together.sum(axis=1)),
            "examples": ((names.LABEL, OTHER), np.rint(both).astype(np.int64)),
        },
        coords={names.LABEL: named, OTHER: named},
        attrs={"n": n, "compared": compared, "pairs": pairs},
    )
