"""The subject of a report on a predictor: its sets for new examples, and what experts say."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np
import xarray as xr

from plausibly.calibration.alphas import AlphaLike
from plausibly.conformal.predictor import ConformalPredictor
from plausibly.data import align, names
from plausibly.data.names import name_texts
from plausibly.errors import PlausiblyWarning, counted
from plausibly.kernels.coverage import Ties
from plausibly.report import options as chosen
from plausibly.report.believing import exchangeable, of_overlap, of_shift
from plausibly.report.crossing import made, method_sets
from plausibly.report.facts import HELD, Check
from plausibly.report.options import Options
from plausibly.report.parting import selected
from plausibly.report.subject import Subject, Tested


def subject_of(
    predictor: ConformalPredictor,
    predictions: xr.DataArray,
    plausibilities: xr.DataArray,
    annotations: xr.Dataset | None,
    options: Options,
    *,
    alphas: Sequence[AlphaLike],
    by: Sequence[str] | None = None,
    cluster: str | None = None,
    true: str | None = None,
    ties: Ties = "first",
    seed: int = 0,
    only_common: bool = False,
    facts: Sequence[tuple[str, str]] = (),
    command: str = "",
) -> Subject:
    """Return the subject of a report on a predictor.

    Parameters
    ----------
    predictor : ConformalPredictor
    predictions : DataArray, ([augmentation,] example, label)
        Of new examples, with their coordinates.
    plausibilities : DataArray, (example, label)
        Of the same examples; means over draws.
    annotations : Dataset or None
        What they were aggregated from.
    options : Options
    alphas : sequence
    by : sequence of str, optional
        Coordinates whose groups are compared; by default all with few.
    cluster, true : str, optional
        Coordinates: of examples that belong together, and of known labels.
    ties, seed
        See `plausibly.evaluate`.
    only_common : bool
        Leave out the examples that only one side has, instead of refusing.
    facts : sequence of (title, text)
    command : str
        See `Provenance`.
    """
    labels = name_texts(predictions[names.LABEL].values)
    lam = align.match_labels(plausibilities, labels, whose="plausibilities", other="predictions")
    model, lam = align.match_examples(predictions, lam, only_common=only_common)
    order = np.argsort(model[names.EXAMPLE].values.astype(np.str_), kind="stable")
    model, lam = (array.isel({names.EXAMPLE: order}) for array in (model, lam))
    one = Tested(predictor=predictor, predictions=model)
    with warnings.catch_warnings():
        # What there is to say of the sets stands in the report.
        warnings.simplefilter("ignore", PlausiblyWarning)
        arrays = made(one, alphas)
    promises = [predictor.guarantee(alpha) for alpha in alphas]
    name = f"{predictor.facts.calibrator}, {predictor.facts.combiner}"
    method = method_sets(name, model, [one], arrays, promises)
    plane = model
    if names.AUGMENTATION in model.dims:
        plane = model.mean(names.AUGMENTATION, keep_attrs=True)
    words, n = options.words, plane.sizes[names.EXAMPLE]
    checks = [
        Check(
            name="example-twice",
            title=f"no {words.example} twice",
            state=HELD,
            words=f"All {counted(n)} names are different.",
        ),
        of_overlap(method, words),
    ]
    shift = of_shift(method, words)
    checks += [*([] if shift is None else [shift]), *exchangeable(words)]
    table = annotations
    if table is not None:
        table = selected(table, name_texts(plane[names.EXAMPLE].values))
    return Subject(
        predictions=plane,
        plausibilities=lam,
        annotations=table,
        risk=chosen.risks(plane, lam),
        methods=[method],
        alphas=[str(alpha) for alpha in alphas],
        by=chosen.grouping(plane, by, (cluster, true, options.text, options.thumbnail)),
        cluster=cluster,
        true=true,
        ties=ties,
        seed=seed,
        how=f"By one predictor, calibrated on {counted(predictor.n)} others.",
        checks=checks,
        words=words,
        title=options.title,
        command=command,
        study="",
        facts=facts,
        text=chosen.texts(plane, options),
        thumbnail=chosen.pictures(plane, options),
        annotator_names=options.annotator_names,
    )
