"""Several methods on the same random splits: what each covers, and how large its sets are."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import closing
from importlib.metadata import version
from pathlib import Path

import numpy as np
import xarray as xr

from plausibly.calibration.alphas import AlphaLike, Alphas, read_alphas
from plausibly.data import align, names, validate
from plausibly.data.validate import check_augmented, is_augmented
from plausibly.evaluation import inputs
from plausibly.evaluation.asked import check_count, read_numbers, strata_of
from plausibly.evaluation.checkpoint import Checkpoint
from plausibly.evaluation.design import Design, Outcome
from plausibly.evaluation.heard import Said, listening, repeat
from plausibly.evaluation.methods import Methods, read_methods
from plausibly.evaluation.pool import outcomes
from plausibly.evaluation.results import DRAWS, METHOD, SIZE, SPLIT, assembled
from plausibly.evaluation.shown import Study
from plausibly.evaluation.splits import check_share, check_strata
from plausibly.kernels.coverage import Ties
from plausibly.progress import Progress, Tick, ticking

__all__ = ["DRAWS", "METHOD", "SIZE", "SPLIT", "Progress", "compare"]


def compare(
    predictions: xr.DataArray,
    plausibilities: xr.DataArray | xr.Dataset,
    methods: Methods,
    *,
    alphas: Alphas = (0.1,),
    splits: int = 100,
    test: float = 0.5,
    group: str | None = None,
    stratify: str | xr.DataArray | None = None,
    draws: int | Sequence[int] | None = None,
    sizes: int | Sequence[int] | None = None,
    seed: int = 0,
    ties: Ties = "first",
    true: str | xr.DataArray | None = None,
    processes: int = 1,
    checkpoint: str | Path | Checkpoint | None = None,
    progress: Progress | None = None,
) -> Study:
    """Calibrate several methods on random splits, and measure each on the rest.

    Parameters
    ----------
    predictions : DataArray, ([augmentation,] example, label)
        Of a model that saw none of these examples, or not those of the fold that it predicts.
        Several augmentations are for the calibrator ``augmentation``; where it pools them, a test
        example is seen in a random one of its own.
    plausibilities : DataArray or Dataset, (example, label)
        Plausibilities, dense or packed, or an annotation table, which is aggregated by the default
        of its kind. Aligned with the predictions by name.
    methods : mapping of str to mapping, or sequence of mapping or str
        Arguments of `calibrate` (``calibrator``, ``score``, ``combiner``, ``draws``,
        ``allow_no_guarantee``) by the name of the method, or in a list, named after their
        components or by a ``name``.
    alphas : number or text, or a sequence of them
        Miscoverage rates.
    splits : int
        How many; the first ones do not depend on it.
    test : float
        Share of the examples to measure on; the others calibrate.
    group : str, optional
        Coordinate of the examples whose groups stay on one side, such as the patient; held-out
        parts of the calibration follow it too.
    stratify : str or DataArray, (example,), optional
        Coordinate of the examples, or values by name, such as the voted label
        ``plausibilities.idxmax("label")``: every value has the share `test` of its examples on the
        test side, but for one example. With `group`, each of whose groups has one value, as far as
        whole groups allow.
    draws : int or sequence of int, optional
        Numbers of draws, along a dim ``draws``: in the place of the parameter ``draws`` of each
        calibrator that has one, also inside another. Methods without one are calibrated once, and
        are the same along it: see the coordinate ``uses_draws``.
    sizes : int or sequence of int, optional
        Numbers of calibration examples, along a dim ``size``: subsets of the calibration side, by
        the keys of their names, each of which is part of every larger one; whole groups, as long as
        they fit, where there are any. The test examples are the same for all sizes.
    seed : int
        Every split draws from a stream of its own.
    ties : {"first", "random", "fractional", "any", "all"}
        See `evaluate`.
    true : str or DataArray, (example,), optional
        Known labels, see `evaluate`; they calibrate nothing.
    processes : int
        How many splits to work on at a time, each in a process of its own. The result is the same.
        A script must then call this below ``if __name__ == "__main__":``.
    checkpoint : str or Path, optional
        A folder where each finished split is kept. The same study, or one of more splits, goes on
        from there, also after it was killed; any other study is refused.
    progress : bool or callable, optional
        True for a bar on a terminal or in a notebook, silent elsewhere. A function is called with
        the number of finished splits, and of all; first with those that `checkpoint` had, if any.

    Returns
    -------
    Study
        A Dataset, which notebooks show with its table.
        `aggregated_coverage`, `voted_coverage`, `set_size` and `share_empty`: means over the test
        examples of a split, (method, split, alpha[, draws][, size]), and `true_coverage` with
        `true`; with `group`, `group_coverage`, the mean over groups of the mean aggregated coverage
        within, which ``grouped`` is about; `vacuous`, whether every set is every label; `n_test`,
        (split,), and `n_calibration`, (split[, size]). Coordinates `guaranteed` (text) and
        `guaranteed_level` (NaN for none), (method, alpha[, draws][, size]): of
        `aggregated_coverage`. Attributes hold the settings, and the guarantees of the first split
        as JSON, with the most draws and the largest size.

        Select one method by ``study.sel({"method": name})``: as a keyword, ``method`` is how
        xarray's own ``sel`` fills gaps.

        The standard deviation over splits of one data set is a spread, not a standard error: the
        splits overlap.

    Raises
    ------
    InputError
        Where inputs are malformed or do not match, a split would leave a side empty, or has fewer
        calibration examples than `sizes` asks for; ``checkpoint-other`` where the folder is of
        another study; ``method-unsent`` where a component cannot be sent to other processes.

    Warns
    -----
    PlausiblyWarning
        What splits warn of, once, at the end.
    """
    asked = read_methods(methods)
    policy = inputs.check_ties(ties)
    check_share(test)
    check_count("splits", splits, do="splits=100")
    check_count("processes", processes, do="processes=2")
    numbers = read_numbers("draws", draws), read_numbers("sizes", sizes)
    check = check_augmented if is_augmented(predictions) else validate.check_predictions
    model = check(predictions)
    lam = inputs.as_plausibilities(plausibilities)
    labels = tuple(map(str, model[names.LABEL].values))
    lam = align.match_labels(lam, labels, whose="plausibilities", other="predictions")
    model, lam = align.match_examples(model, lam)
    groups = strata = None
    stratum = stratify if isinstance(stratify, str) else "stratify"
    if group is not None:
        groups = inputs.example_values(group, (model, lam))
        model = model.assign_coords({group: (names.EXAMPLE, groups)})
    if stratify is not None:
        strata = strata_of(stratify, (model, lam))
    if groups is not None and strata is not None:
        check_strata(groups, strata, group=str(group), stratify=stratum)

    said: list[Said] = []
    with listening(said):
        exact = read_alphas(alphas)
        made = {name: method.made() for name, method in asked.items()}
    # Asked for as they were given, so that what is said of them names them in the same way.
    given: list[AlphaLike] = np.asarray(alphas, dtype=object).ravel().tolist()
    design = Design(
        predictions=model,
        plausibilities=lam,
        methods=made,
        alphas=given,
        test=test,
        group=group,
        groups=groups,
        strata=strata,
        seed=seed,
        ties=policy,
        true=None if true is None else inputs.true_codes(true, (model, lam), labels),
        draws=numbers[0],
        sizes=numbers[1],
    )
    with ticking(progress, "comparing methods") as tick:
        found = _run(design, splits, processes, checkpoint, tick)
    said += [one for outcome in found for one in outcome.said]
    repeat(said, splits, sizes=design.sizes or (), draws=design.draws or ())
    facts: dict[str, object] = {
        "n": model.sizes[names.EXAMPLE],
        "labels": len(labels),
        "seed": seed,
        "test": float(test),
        "ties": policy,
        "alphas": json.dumps([str(alpha) for alpha in given]),
        "methods": json.dumps({name: method.table() for name, method in asked.items()}),
        "guarantees": json.dumps(found[0].guarantees),
        "version": version("plausibly"),
    }
    if groups is not None:
        facts |= {"group": group, "groups": len(np.unique(groups))}
    if strata is not None:
        facts |= {"stratify": stratum, "strata": len(np.unique(strata))}
    return assembled(design, found, [float(alpha) for alpha in exact]).assign_attrs(facts)


def _run(
    design: Design,
    splits: int,
    processes: int,
    checkpoint: str | Path | Checkpoint | None,
    progress: Tick,
) -> list[Outcome]:
    """Return what the splits give, in their order, whatever the order in which they end."""
    store = Checkpoint.of(checkpoint)
    found = {} if store is None else store.open(design, splits)
    if found:
        progress(len(found), splits)
    left = [number for number in range(splits) if number not in found]
    with closing(outcomes(design, left, processes)) as finished:
        for outcome in finished:
            if store is not None:
                store.keep(outcome)
            found[outcome.number] = outcome
            progress(len(found), splits)
    return [found[number] for number in range(splits)]
