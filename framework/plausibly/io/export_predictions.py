"""Predictions in the export of an annotation tool: by the reader of its annotations."""

from __future__ import annotations

from pathlib import Path

import xarray as xr

from plausibly import registry
from plausibly.conformal.components import called
from plausibly.data.names import LABEL, quoted
from plausibly.errors import InputError
from plausibly.io.tables import Names, names_of, table_from, with_coordinates
from plausibly.protocols import READER, ComponentLike, PredictionsReader, Reader
from plausibly.registry.calls import calling, failed
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
    made = registry.resolve(READER, reader)
    component, whose = _with_predictions(made, path.name), f"reader {called(READER, made)}"
    about = None if labels is None else table_from(labels, LABEL)
    declared = None if about is None else names_of(about, LABEL)
    with calling(whose, "predictions"):
        found: object = component.predictions(path, declared, model)
    if not isinstance(found, xr.DataArray):
        raise failed(
            whose,
            "predictions() returned no predictions",
            expected="a DataArray (example, label)",
            got=f"a {type(found).__name__}",
        )
    return found if about is None else with_coordinates(found, about)


def _with_predictions(component: Reader, whose: str) -> PredictionsReader:
    wrong = problems(component, PredictionsReader)
    if not wrong:
        found: PredictionsReader = component  # type: ignore[assignment]  # compared just now
        return found
    name = called(READER, component)
    raise InputError(
        "reader-no-predictions",
        f"{whose}: reader {quoted(name)} reads annotations only",
        expected=f"a reader with a method {wrong[0].expected}",
        got=wrong[0].got,
        do='leave reader out, or name one whose exports hold predictions: reader="label-studio"',
        whose=whose,
    )
