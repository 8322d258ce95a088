"""What the sets of one method cover, by the same functions that ``plausibly evaluate`` uses."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from itertools import combinations

import attrs
import numpy as np
import xarray as xr

from plausibly.calibration.scores import LABEL_CELLS
from plausibly.data import names
from plausibly.data.names import name_text
from plausibly.errors import InputError, PlausiblyWarning
from plausibly.evaluation import inputs, intervals
from plausibly.evaluation.evaluate import evaluate
from plausibly.evaluation.groups import coverage_by_size, coverage_by_subgroup, sorted_coverage
from plausibly.evaluation.inputs import judge
from plausibly.kernels.coverage import Ties
from plausibly.report.subject import MethodSets, Subject

POLICIES: tuple[Ties, ...] = ("first", "fractional", "any", "all")
CROSSED = 2
"""Coordinates that a group is made of at most."""

MOST_CROSSED = 6
"""Coordinates from which groups are not crossed: each interval would pay for all of them."""

AT_LEAST = 20
"""Examples of the smallest group that is shown."""


@attrs.frozen(kw_only=True, eq=False)
class Measured:
    """Results for the sets of one method, all over ``alpha``.

    Attributes
    ----------
    evaluation : Dataset
        From `plausibly.evaluate`.
    votes : mapping of str to Dataset
        Coverage of the vote by what counts where it is tied.
    sizes, realised : Dataset
        From `coverage_by_size` and `sorted_coverage`.
    groups : Dataset or None
        From `coverage_by_subgroup`.
    no_groups : str
        Why there are none.
    """

    evaluation: xr.Dataset
    votes: Mapping[str, xr.Dataset]
    sizes: xr.Dataset
    realised: xr.Dataset
    groups: xr.Dataset | None
    no_groups: str

    def at(self, place: int) -> Measured:
        """Return the results at one alpha."""

        def plane(found: xr.Dataset) -> xr.Dataset:
            return found.isel({names.ALPHA: place})

        return attrs.evolve(
            self,
            evaluation=plane(self.evaluation),
            votes={policy: plane(found) for policy, found in self.votes.items()},
            sizes=plane(self.sizes),
            realised=plane(self.realised),
            groups=None if self.groups is None else plane(self.groups),
        )


def measured(subject: Subject, method: MethodSets) -> Measured:
    """Return what the sets of a method cover.

    Parameters
    ----------
    subject : Subject
    method : MethodSets
    """
    sets, lam = method.sets, subject.plausibilities
    with warnings.catch_warnings():
        # What is to be said of the sets is said in the report.
        warnings.simplefilter("ignore", PlausiblyWarning)
        evaluation = evaluate(
            sets,
            lam,
            ties=subject.ties,
            true=subject.true,
            by=_guaranteed_by(method, sets),
            cluster=subject.cluster,
            seed=subject.seed,
        ).load()
        groups, why = _groups(subject, sets)
        return Measured(
            evaluation=evaluation,
            votes=_votes(subject, sets, evaluation),
            sizes=coverage_by_size(sets, lam, cluster=subject.cluster, seed=subject.seed),
            realised=sorted_coverage(sets, lam),
            groups=groups,
            no_groups=why,
        )


def _guaranteed_by(method: MethodSets, sets: xr.DataArray) -> str | None:
    """Return the coordinate of each of whose values something is guaranteed."""
    by = method.promises[0].by
    known = by and by != LABEL_CELLS and inputs.known_values(by, (sets,)) is not None
    return by if known else None


def _votes(subject: Subject, sets: xr.DataArray, evaluation: xr.Dataset) -> dict[str, xr.Dataset]:
    """Return coverage of the vote by policy: one policy where no vote is tied."""
    found = {str(subject.ties): evaluation}
    if not evaluation.attrs["tied_share"]:
        return found
    judged = judge(sets, subject.plausibilities, cluster=subject.cluster, seed=subject.seed)
    for policy in POLICIES:
        if policy not in found:
            outcomes = judged.outcomes(judged.measured(policy))
            found[policy] = intervals.overall(outcomes, judged.alpha_dims)
    return found


def _groups(subject: Subject, sets: xr.DataArray) -> tuple[xr.Dataset | None, str]:
    """Return coverage by group, or why there are no groups."""
    if not subject.by:
        return None, (
            f"Nothing is known of the {subject.words.examples} by which to group them: a table of "
            "them (examples) with a column such as the site would show where coverage is weak."
        )
    try:
        found = coverage_by_subgroup(
            sets,
            subject.plausibilities,
            list(subject.by),
            crossed=crossed(subject),
            at_least=AT_LEAST,
            cluster=subject.cluster,
            seed=subject.seed,
        )
    except InputError as error:
        if error.name != "subgroups-none":
            raise
        return None, f"{error.what[0].upper()}{error.what[1:]}: too few to say anything of them."
    return found, ""


def crossed(subject: Subject) -> int:
    """Return of how many coordinates a group is made at most."""
    return CROSSED if len(subject.by) <= MOST_CROSSED else 1


def wheres(subject: Subject) -> dict[str, tuple[tuple[int, int], ...]]:
    """Return which examples each group is made of, by its title: columns and their values.

    Parameters
    ----------
    subject : Subject
    """
    coded = [
        inputs.codes_of(inputs.example_values(name, (subject.predictions,))) for name in subject.by
    ]
    found: dict[str, tuple[tuple[int, int], ...]] = {}
    for depth in range(1, crossed(subject) + 1):
        for chosen in combinations(range(len(coded)), depth):
            for row in np.unique(np.stack([coded[at][1] for at in chosen], axis=1), axis=0):
                where = tuple(zip(chosen, map(int, row), strict=True))
                titles = [
                    f"{subject.by[at]} {name_text(coded[at][0][value])}" for at, value in where
                ]
                found[", ".join(titles)] = where
    return found
