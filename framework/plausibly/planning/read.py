"""The pilot of a plan: predictions and what experts said of the same examples, matched by name."""

from __future__ import annotations

import attrs
import xarray as xr

from plausibly import registry
from plausibly.conformal.aggregate import aggregated, default_aggregator
from plausibly.conformal.components import called
from plausibly.data import align, names, seal
from plausibly.errors import InputError, counted, warn
from plausibly.evaluation import inputs
from plausibly.evaluation.some_rows import about_examples, as_predictions
from plausibly.kernels.types import Ints
from plausibly.planning.pilot import Pilot
from plausibly.protocols import AGGREGATOR, SCORE, Aggregator, ComponentLike, ScoreFunction


@attrs.frozen(kw_only=True, eq=False)
class ReadPilot:
    """A pilot that was read, and what there is to say of it.

    Attributes
    ----------
    atoms : Pilot
    predictions, plausibilities : DataArray, (example, label)
        Of the same examples and labels, in the same order; plausibilities may be packed.
    table : Dataset or None
        The annotation table, where there is one.
    aggregator : Aggregator or None
        With the table.
    score : ScoreFunction
    clusters : ndarray of int, (example,), or None
    about : dict
        What the result remembers of it.
    """

    atoms: Pilot
    predictions: xr.DataArray
    plausibilities: xr.DataArray | xr.Dataset
    table: xr.Dataset | None
    aggregator: Aggregator | None
    score: ScoreFunction
    clusters: Ints | None
    about: dict[str, object]


def read_pilot(
    predictions: xr.DataArray | None,
    plausibilities: xr.DataArray | xr.Dataset | None,
    *,
    score: ComponentLike[ScoreFunction],
    aggregator: ComponentLike[Aggregator] | None,
    cluster: str | None,
    seed: int,
    only_common: bool,
) -> ReadPilot | None:
    """Return the pilot, matched by name; None where there is none.

    Raises
    ------
    InputError
        ``pilot-half``, ``clusters-few``, and where inputs are malformed or do not match.
    """
    if predictions is None and plausibilities is None:
        return None
    if predictions is None or plausibilities is None:
        raise pilot_half("predictions" if predictions is None else "annotations")
    model = as_predictions(predictions)
    table, component = None, None
    if isinstance(plausibilities, xr.Dataset) and names.RESPONSE_EXAMPLE in plausibilities:
        table = seal.check_table(plausibilities)
        component = registry.resolve(
            AGGREGATOR, aggregator or default_aggregator(str(table.attrs[names.KIND]))
        )
        lam = inputs.as_given(aggregated(table, component, seed=seed))
    else:
        lam = inputs.as_given(plausibilities)
    model, lam = matched(model, lam, only_common=only_common)
    clusters = None
    if cluster is not None:
        values, clusters = inputs.codes_of(
            inputs.example_values(cluster, (model, about_examples(lam)))
        )
        if len(values) < 2:
            raise InputError(
                "clusters-few",
                f'all examples of the pilot are of one "{cluster}"',
                expected="two or more, to see how alike their examples are",
                got=f"{values[0]} alone",
                do="leave cluster out, or a pilot of several",
                whose="pilot",
            )
    the_score = registry.resolve(SCORE, score)
    about: dict[str, object] = {
        "pilot_examples": model.sizes[names.EXAMPLE],
        "score": called(SCORE, the_score),
        "aggregator": "" if component is None else called(AGGREGATOR, component),
    }
    if cluster is not None and clusters is not None:
        about |= {"cluster": cluster, "clusters": int(clusters.max()) + 1}
    return ReadPilot(
        atoms=Pilot.of(model, lam, the_score, seed, clusters),
        predictions=model,
        plausibilities=lam,
        table=table,
        aggregator=component,
        score=the_score,
        clusters=clusters,
        about=about,
    )


def matched(
    model: xr.DataArray, lam: xr.DataArray | xr.Dataset, *, only_common: bool
) -> tuple[xr.DataArray, xr.DataArray | xr.Dataset]:
    """Return predictions and plausibilities of the same examples and labels, in the same order.

    Parameters
    ----------
    model : DataArray, (example, label)
    lam : DataArray, (example, label), or packed Dataset
    only_common : bool
        Leave out the examples that only one side has, instead of refusing.

    Raises
    ------
    InputError
        ``labels-differ`` and ``examples-differ``.
    """
    labels = tuple(map(str, model[names.LABEL].values))
    # The form of the plausibilities stays: the checker asks for each apart.
    if isinstance(lam, xr.Dataset):
        lam = align.match_labels(lam, labels, whose="plausibilities", other="predictions")
        return align.match_examples(model, lam, only_common=only_common)
    lam = align.match_labels(lam, labels, whose="plausibilities", other="predictions")
    return align.match_examples(model, lam, only_common=only_common)


def pilot_half(lacks: str) -> InputError:
    """Return the error about a pilot without predictions, or without annotations."""
    has, flag = ("annotations", "-p") if lacks == "predictions" else ("predictions", "-a")
    return InputError(
        "pilot-half",
        f"the pilot has no {lacks}",
        expected="predictions and annotations (or plausibilities) of the same examples",
        got=f"{has} alone",
        do=f"pass {lacks} too ({flag}), or neither, for one draw without a pilot",
        whose="pilot",
    )


def warn_if_certain(pilot: ReadPilot) -> None:
    """Warn where the pilot shows no disagreement, so that draws and annotators seem to gain none.

    Parameters
    ----------
    pilot : ReadPilot
    """
    largest = pilot.atoms.slots.weight.max(axis=1)
    if float(largest.min()) < 1.0:
        return
    warn(
        "pilot-certain",
        f"each of the {counted(len(largest))} examples of the pilot has one certain label",
        expected="several responses an example, which may differ",
        got="one label each: what more draws or annotators gain cannot be seen",
        do="ask two or more annotators about each, and pass every response (-a); until then plan "
        "for one draw",
        whose="pilot",
        stacklevel=3,
    )
