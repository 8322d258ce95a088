"""Score `ordinal` on the command line: the order comes from --labels, or is that of the columns."""

from __future__ import annotations

from cli_world import CALIBRATE, EVALUATE, PREDICT, World, done, refused, typed
from plausibly.io import read_sets

ORDERED = "label,order\ndog,1\ncat,2\nfox,3\n"


def test_the_order_comes_from_the_table_of_labels(world: World) -> None:
    world.write("labels.csv", ORDERED)
    done(CALIBRATE)
    done(PREDICT)
    assert "order " not in done(EVALUATE).text
    assert "of the sets have holes" in done(f"{EVALUATE} --labels labels.csv").text
    ran = typed(f"{CALIBRATE} --score ordinal --labels labels.csv")
    assert "score ordinal (order order, inner probability)" in ran.text
    assert typed(PREDICT).code == 0
    sets = read_sets(world.path("sets.csv"))
    assert sets.attrs["labels_along_order"] == '["dog", "cat", "fox"]'
    holes = sets.sel(label="dog") & ~sets.sel(label="cat") & sets.sel(label="fox")
    assert not holes.any()
    assert "order no set has a hole; a missed answer is 1." in done(EVALUATE).text
    found = done(f"{EVALUATE} --json").document["results"][0]
    assert (found["share_with_holes"], found["share_missed_by_empty"]) == (0.0, 0.0)
    assert 1 <= found["ordinal_gap"]["low"] <= found["ordinal_gap"]["high"] <= 2


def test_the_order_of_the_columns_is_named_and_none_is_refused(world: World) -> None:
    ran = typed(CALIBRATE, "--score", '{name = "ordinal", order = "columns", greedy = true}')
    assert ran.code == 0, ran.err
    assert "score ordinal (order columns, inner probability, greedy)" in ran.text
    world.path("predictor.nc").unlink()
    refused(
        f"{CALIBRATE} --score ordinal",
        "order-missing",
        'expected "order" of the labels: a different number for each',
        "hint --labels labels.csv with such a column",
    )
