"""A tuned score function, and how the examples that chose it are kept apart."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Literal, TypeAlias, overload

import attrs
import xarray as xr

from plausibly.conformal.calibrate import calibrate
from plausibly.conformal.predictor import ConformalPredictor
from plausibly.data import names
from plausibly.data.left_out import with_left_out
from plausibly.data.select import select
from plausibly.errors import InputError, counted, listed

Goal: TypeAlias = Literal["set-size", "size-stratified"]

MEASURES: Mapping[str, str] = {"set-size": "set_size", "size-stratified": "violation"}
"""What is made small, by goal."""

PENALTY, FREE_RANK = "penalty", "free_rank"
_REASON = "tuned the score"


@attrs.frozen(kw_only=True, eq=False, repr=False)
class TunedScore:
    """A score function that was chosen on some examples, which must not calibrate or test it.

    Attributes
    ----------
    score : dict
        The score as a table, for ``calibrate(score=...)``: name and parameters.
    tuned_on : tuple of str
        Names of the examples that chose it, in order.
    candidates : Dataset, (penalty, free_rank)
        `set_size`, `aggregated_coverage` and `violation` of each candidate, over the inner splits.
    alpha : Fraction
    goal : {"set-size", "size-stratified"}
    splits : int
        Number of inner splits.
    """

    score: dict[str, object]
    tuned_on: tuple[str, ...]
    candidates: xr.Dataset
    alpha: Fraction
    goal: Goal
    splits: int

    @overload
    def rest(self, array: xr.DataArray) -> xr.DataArray: ...

    @overload
    def rest(self, array: xr.Dataset) -> xr.Dataset: ...

    def rest(self, array: xr.DataArray | xr.Dataset) -> xr.DataArray | xr.Dataset:
        """Return predictions, plausibilities or annotations without the examples that tuned.

        Parameters
        ----------
        array : DataArray or Dataset
            With the dim ``example``; examples are matched by name.

        Returns
        -------
        DataArray or Dataset
            What was left out is counted in the attribute ``left_out``.
        """
        here = names.name_texts(array[names.EXAMPLE].values)
        used = set(self.tuned_on)
        kept = [place for place, name in enumerate(here) if name not in used]
        less = {_REASON: len(here) - len(kept)}
        if not isinstance(array, xr.Dataset):
            return with_left_out(array.isel({names.EXAMPLE: kept}), less)
        if names.RESPONSE_EXAMPLE in array:
            # Rows of an annotation table are cut by its verb, with their responses.
            return with_left_out(select(array, example=[here[k] for k in kept]), less)
        return with_left_out(array.isel({names.EXAMPLE: kept}), less)

    def check(self, array: xr.DataArray | xr.Dataset, *, whose: str = "predictions") -> None:
        """Raise `InputError` ``examples-tuned`` where examples of `array` chose the score."""
        used = set(self.tuned_on)
        both = [name for name in names.name_texts(array[names.EXAMPLE].values) if name in used]
        if both:
            raise InputError(
                "examples-tuned",
                f"{names.several(len(both), 'example')} of {whose} tuned the score "
                f"({listed(both)})",
                expected="examples that neither chose the score nor trained the model",
                got=f"{counted(len(both))} that chose it, which voids the guarantee",
                do=f"tuned.rest({whose}), or tuned.calibrate(...), which leaves them out",
                whose=whose,
                details={"examples": both},
            )

    def calibrate(
        self,
        predictions: xr.DataArray,
        plausibilities: xr.DataArray | xr.Dataset,
        **options: Any,  # Any: the other arguments of plausibly.calibrate, which checks them
    ) -> ConformalPredictor:
        """Calibrate with the score, on the examples that did not choose it.

        Parameters
        ----------
        predictions, plausibilities
            As `plausibly.calibrate` takes them; the examples of `tuned_on` are left out.
        **options
            Other arguments of `plausibly.calibrate`.
        """
        model = self.rest(predictions)
        return calibrate(model, self.rest(plausibilities), score=self.score, **options)

    def __repr__(self) -> str:
        chosen = {key: value for key, value in self.score.items() if key != "name"}
        measure = MEASURES[self.goal]
        best = self.candidates[measure].sel({key: chosen[key] for key in (PENALTY, FREE_RANK)})
        shown = ", ".join(f"{key} {value}" for key, value in chosen.items())
        return "\n".join(
            [
                f"TunedScore  {self.score['name']}: {shown}",
                f"  tuned on {counted(len(self.tuned_on))} examples at alpha "
                f"{float(self.alpha):g}: calibrate and test on the others, tuned.rest(...)",
                f"  least {measure.replace('_', ' ')} of {self.candidates[measure].size} candidates"
                f" over {names.several(self.splits, 'split')}: {float(best):.4g}",
            ]
        )
