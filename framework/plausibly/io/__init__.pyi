from plausibly.io.annotation_files import write_annotations as write_annotations
from plausibly.io.annotations import (
    build_annotations as build_annotations,
    read_annotations as read_annotations,
)
from plausibly.io.label_tables import (
    read_examples as read_examples,
    read_labels as read_labels,
    with_coordinates as with_coordinates,
)
from plausibly.io.plausibilities import (
    read_plausibilities as read_plausibilities,
    write_plausibilities as write_plausibilities,
)
from plausibly.io.predictions import read_predictions as read_predictions
from plausibly.io.sets import (
    read_sets as read_sets,
    write_sets as write_sets,
)
