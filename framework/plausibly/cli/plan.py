"""``plausibly plan``: how many examples, annotators and draws."""

from __future__ import annotations

from plausibly.cli import options
from plausibly.cli.output import Output
from plausibly.config.load import Draft

FLAGS = {
    "Files of a pilot": "-a -p -e --plausibilities",
    "Format of the annotations": f"{options.FORMAT} --aggregator",
    "Plan": "--alpha --within --confidence --n --draws --answers --cluster",
}
KEYS = {"--confidence": "plan.confidence"}


def plan(output: Output, loaded: Draft) -> None:
    r"""Say how far from 1 - alpha a calibration may land, by examples, draws and responses.

    With a pilot (-p and -a) for your data; without one for a single draw, whatever the data.

    plausibly plan --alpha 0.1 --within 0.02
    plausibly plan -a ratings.csv -p pilot.csv --within 0.02
    plausibly plan -a ratings.csv -p pilot.csv -e cases.csv --cluster patient \
      --n 200,500 --draws 10,expected
    """
    from plausibly.cli import layout
    from plausibly.data.names import EXAMPLE
    from plausibly.data.select import answered, select_annotations
    from plausibly.planning.pilot import pilot_half
    from plausibly.planning.plan import plan as planned
    from plausibly.study.reading import read_both

    settings, chosen = loaded.settings, loaded.settings.plan
    predictions = plausibilities = aggregator = None
    shown: list[str] = []
    if settings.answers[1] is not None or settings.predictions.path is not None:
        options.check_answers(loaded)
        if settings.predictions.path is None:
            raise pilot_half("predictions")
        with output.working("reading files"):
            model, answers, predictions, plausibilities, left_out = read_both(settings)
        rows = [(answers.what, answers.text), ("predictions", model.text)]
        rows += [("left out", layout.counts(left_out)), ("method", layout.choices(answers.chosen))]
        shown = [layout.fields(rows)]
        if answers.table is not None:
            kept = set(answered(answers.table)).intersection(predictions[EXAMPLE].values.tolist())
            plausibilities = select_annotations(answers.table, example=sorted(kept))
            aggregator = answers.component or {}
        output.document |= {
            answers.what: answers.facts,
            "predictions": model.facts,
            "left_out": left_out,
        }
    with output.working("planning"):
        result = planned(
            predictions,
            plausibilities,
            alpha=[str(alpha) for alpha in settings.alphas],
            n=list(chosen.n) or None,
            draws=list(chosen.draws) or None,
            within=chosen.within,
            confidence=chosen.confidence,
            one_sided=chosen.one_sided,
            score=settings.chosen_method.score,
            aggregator=aggregator,
            responses=list(chosen.answers) or None,
            cluster=settings.examples.cluster,
            delta=chosen.delta,
            resamples=chosen.resamples,
            seed=settings.seed,
        )
    output.document |= result.to_json()
    output.show("\n".join([*shown, *result.lines()]))
