"""Any valid study, with the components of `study_world` in it."""

from __future__ import annotations

from hypothesis import strategies as st

TEXT = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=6
)
NAMES = st.sampled_from(["a.csv", "b/c.nc", "../d e.npz", 'quo"te.csv', "ü.toml"])
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
BETWEEN = st.floats(0.01, 0.99)
RATES = st.decimals("0.001", "0.999", places=5)


def some(**keys: st.SearchStrategy[object]) -> st.SearchStrategy[dict[str, object]]:
    """Return a strategy for tables that have some of these keys."""
    return st.fixed_dictionaries({}, optional=keys)


def component(name: str, **keys: st.SearchStrategy[object]) -> st.SearchStrategy[object]:
    """Return a strategy for a component as a name or as a table."""
    table = some(**keys).map(lambda given: {"name": name, **given})
    return table | st.just(name)


PLAIN = (
    component("expected")
    | component("majority-vote")
    | component("monte-carlo", draws=st.integers(1, 10**20))
)
CALIBRATORS = PLAIN | st.recursive(
    PLAIN,
    lambda inner: component(
        "wrapped",
        inner=inner,
        many=st.lists(inner, max_size=2),
        file=NAMES,
        levels=st.dictionaries(TEXT, FLOATS, max_size=2),
        text=TEXT,
        switch=st.booleans(),
    ),
    max_leaves=3,
)
COMBINERS = (
    component("average")
    | component("held-out-rank", held_out=BETWEEN)
    | component("ecdf", delta=st.floats(1e-300, 0.5), band=st.just("one-sided"))
)
SCORES = component("probability") | component("log-probability")
CALIBRATIONS = st.lists(
    some(calibrator=CALIBRATORS, score=SCORES, combiner=COMBINERS), min_size=1, max_size=3
)
COUNTS = st.lists(st.integers(1, 10**9), min_size=1, max_size=3, unique=True)
RENAME = st.dictionaries(TEXT, TEXT, max_size=2)


@st.composite
def studies(draw: st.DrawFn) -> dict[str, object]:
    """Draw the tables of a valid study."""
    calibrations = draw(CALIBRATIONS)
    names = draw(st.lists(TEXT, min_size=3, max_size=3, unique=True))
    annotations = st.fixed_dictionaries(
        {"path": NAMES},
        optional={
            "reader": component("long-table", header=st.booleans()),
            "missing": st.lists(TEXT, max_size=2),
            "columns": st.dictionaries(st.sampled_from(["task", "label"]), TEXT),
            "unanswered": st.sampled_from(["error", "drop"]),
            "aggregator": component("majority-vote", ties=st.sampled_from(["first", "random"])),
        },
    )
    predictions = st.fixed_dictionaries(
        {"path": NAMES},
        optional={
            "example": TEXT,
            "scale": st.sampled_from(["probability", "logit", "independent", "any"]),
            "normalise": st.booleans(),
            "bad_rows": st.sampled_from(["error", "drop"]),
            "variable": TEXT,
        },
    )
    rest = some(
        seed=st.integers(),
        alphas=st.lists(RATES, min_size=1, max_size=3, unique=True),
        examples=some(path=NAMES, only_common=st.booleans(), one_per=TEXT, cluster=TEXT),
        labels=some(path=NAMES, strip=st.booleans(), rename=RENAME),
        splits=some(
            count=st.integers(1, 10**6),
            test=BETWEEN,
            stratify=TEXT,
            draws=COUNTS,
            sizes=COUNTS,
        ),
        evaluation=some(
            ties=st.sampled_from(["first", "any"]), true_label=TEXT, by=st.lists(TEXT, max_size=2)
        ),
        output=some(folder=NAMES),
    )
    return {
        "annotations": draw(annotations),
        "predictions": draw(predictions),
        "methods": [
            {"name": name, **table} for name, table in zip(names, calibrations, strict=False)
        ],
        **draw(rest),
    }
