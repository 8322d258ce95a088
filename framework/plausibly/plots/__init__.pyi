from plausibly.plots.answers import (
    agreement as agreement,
    annotators as annotators,
    confusion as confusion,
    disagreement as disagreement,
    sensitivity as sensitivity,
)
from plausibly.plots.examples import example as example
from plausibly.plots.regions import region as region
from plausibly.plots.sets import (
    alphas as alphas,
    coverage as coverage,
    groups as groups,
    labels as labels,
    p_values as p_values,
    planning as planning,
    realised as realised,
    risk as risk,
    sizes as sizes,
    strata as strata,
    threshold as threshold,
    uniformity as uniformity,
)
