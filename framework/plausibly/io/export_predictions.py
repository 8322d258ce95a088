"""Predictions in the export of an annotation tool: by the reader of its annotations."""

from __future__ import annotations

from pathlib import Path

import xarray as xr

from plausibly import registry
from plausibly.errors import InputError
from plausibly.io.tables import Names, names_of, table_from, with_coordinates
from plausibly.labelled.names import LABEL
from plausibly.labelled.text import quoted
from plausibly.protocols import READER, ComponentLike, PredictionsReader, Reader
from plausibly.registry.conformance import problems


def in_export(
    path: Path, reader: ComponentLike[Reader], labels: Names | None, model: str | None
) -> xr.DataArray:
    """Return the predictions of one model, (example, label), as `reader` finds them.

    Parameters
    ----------
    path : Path
        The export.
    reader : str, mapping or Reader
        Of annotations; one that also has the method of `PredictionsReader`.
    labels : sequence of str, Path, str or Dataset, optional
        The declared labels.
    model : str, optional
        Whose predictions.

    Raises
    ------
    InputError
        ``reader-no-predictions``, and what the reader says.
    """
    component = _with_predictions(registry.resolve(READER, reader), path.name)
    if labels is None:
        return component.predictions(path, None, model)
    about = table_from(labels, LABEL)
    return with_coordinates(component.predictions(path, names_of(about, LABEL), model), about)


def _with_predictions(component: Reader, whose: str) -> PredictionsReader:
    wrong = problems(component, PredictionsReader)
    if not wrong:
        found: PredictionsReader = component  # type: ignore[assignment]  # compared just now
        return found
    name = registry.describe(READER, component)["name"]
    raise InputError(
        "reader-no-predictions",
        f"{whose}: reader {quoted(name)} reads annotations only",
        expected=f"a reader with a method {wrong[0].expected}",
        got=wrong[0].got,
        do='leave reader out, or name one whose exports hold predictions: reader="label-studio"',
        whose=whose,
    )
