"""Section 4.1: plausibilities of single examples, and the labels that two sets hold of them."""

from __future__ import annotations

import attrs
import numpy as np
import xarray as xr

from plausibly.data import names
from plausibly.data.names import text_array
from plausibly.kernels import coverage
from plausibly.kernels.types import Bools, Floats, Ints
from plausibly.palette import VERMILION
from plausibly.paper import page, splitting
from plausibly.paper.casestudy import ALPHA, METHODS, MONTE_CARLO, VOTED
from plausibly.paper.data import nodules
from plausibly.paper.page import Asked, Claim, Drawing, decimal
from plausibly.plots import examples

SHOWN = 4
MOST_LABELS = 8
COMPARED = (VOTED, MONTE_CARLO)
AMBIGUOUS = 0.5
CLEARLY = 0.05
_ROUNDED = 1e-9
_WIDTH = 24
_LEFT_OUT = page.Look(colour=VERMILION, marker="x")


@attrs.frozen(kw_only=True)
class Bars:
    """Ambiguous examples of one split, with the sets of both calibrations."""

    alpha: str = ALPHA

    def measure(self, asked: Asked) -> xr.Dataset:
        """Return coverage of every test example by both, and all about the few that are shown."""
        data = asked.data or nodules(asked.seed)
        alpha = asked.alpha or self.alpha
        rows = splitting.one_split(data, asked.seed, 0)
        model, lam = data.predictions.values[rows], data.plausibilities.values[rows]
        sets = []
        for place, name in enumerate(COMPARED):
            predictor = splitting.calibrated(data, ~rows, METHODS[name], seed=asked.seed)
            sets.append(predictor.predict_array(model, alpha))
            asked.tick(place + 1, len(COMPARED))
        covered = np.stack([coverage.aggregated(found, lam) for found in sets])
        most = lam.max(axis=1)
        few = np.lexsort((most, covered[0] - covered[1], most > AMBIGUOUS + _ROUNDED))[:SHOWN]
        # The labels that somebody named or a set holds; of very many, the most plausible.
        used = _used(lam[few], np.stack(sets)[:, few])
        examples = data.predictions[names.EXAMPLE].values[rows]
        shown = ("shown", names.LABEL)
        return xr.Dataset(
            {
                "aggregated": (("method", names.EXAMPLE), covered),
                "largest_plausibility": (names.EXAMPLE, most),
                "plausibility": (shown, lam[few]),
                "prediction": (shown, model[few]),
                "in_set": (("method", *shown), np.stack(sets)[:, few]),
                "drawn": (shown, used),
            },
            coords={
                "method": text_array(COMPARED),
                names.EXAMPLE: examples,
                "shown": examples[few],
                names.LABEL: data.predictions[names.LABEL].values,
            },
            attrs={**splitting.facts(data, asked, alpha), "splits": 1},
        )

    def draw(self, numbers: xr.Dataset) -> Drawing:
        """Return a panel an example: bars of plausibility and model, and marks of the sets."""
        count = numbers.sizes["shown"]
        drawn = page.new_page(11, 3.2 * ((count + 1) // 2) + 0.6)
        panels = np.atleast_1d(drawn.subplots((count + 1) // 2, min(2, count))).ravel()
        for panel, place in zip(panels, range(count), strict=False):
            _example(panel, numbers.isel({"shown": place}))
        for panel in panels[count:]:
            panel.set_visible(False)
        handles, said = panels[0].get_legend_handles_labels()
        drawn.legend(
            handles, said, loc="outside upper right", ncols=4, fontsize=page.SMALL, frameon=False
        )
        return page.finish(drawn, "Ambiguous examples, and what two sets hold of them", numbers)

    def claim(self, numbers: xr.Dataset) -> Claim:
        """Return whether Monte Carlo covers more of what is said of ambiguous examples."""
        ambiguous = numbers["largest_plausibility"] <= AMBIGUOUS + _ROUNDED
        unclear = numbers["aggregated"].where(ambiguous)
        count = int(ambiguous.sum())
        voted, drawn = (float(unclear.sel({"method": name}).mean()) for name in COMPARED)
        by_method = numbers["aggregated"]
        gain = by_method.sel({"method": MONTE_CARLO}) - by_method.sel({"method": VOTED})
        more, less = float((gain > 0).mean()), float((gain < 0).mean())
        return Claim(
            says="on ambiguous examples Monte Carlo sets cover clearly more plausibility mass than "
            "sets calibrated on votes",
            measured=f"{count} test examples without a label above one half: voted "
            f"{decimal(voted)}, Monte Carlo {decimal(drawn)}; of all test examples "
            f"{decimal(more)} gain and {decimal(less)} lose",
            parts={"clearly more": drawn > voted + CLEARLY},
        )


BARS = Bars()
STRICT = Bars(alpha="0.1")


def _used(lam: Floats, sets: Bools) -> Bools:
    """Return which labels of each example are drawn, (example, label)."""
    used = (lam > 0) | sets.any(axis=0) if lam.shape[1] > MOST_LABELS else np.ones_like(lam, bool)
    order: Ints = np.argsort(np.argsort(-(lam + used), axis=1, kind="stable"), axis=1)
    return np.asarray(used & (order < MOST_LABELS))


def _example(panel: page.Panel, one: xr.Dataset) -> None:
    """Draw plausibility and prediction of each label of an example, and who has it in the set."""
    kept = one["drawn"].values
    labels = [str(name) for name in one[names.LABEL].values[kept]]
    lam, model = one["plausibility"].values[kept], one["prediction"].values[kept]
    inside = one["in_set"].values[:, kept]
    marks = [
        examples.Marked(name=f"in the {name} set", inside=there, look=look)
        for name, there, look in zip(COMPARED, inside, (_LEFT_OUT, page.TRUE), strict=True)
    ]
    before, after = (float(lam[there].sum()) for there in inside)
    example = str(one["shown"].values)[-_WIDTH:]
    title = f"{example}: voted {before:.2f}, Monte Carlo {after:.2f}"
    examples.draw_bars(panel, labels, lam, model, marks, width=_WIDTH, title=title)
