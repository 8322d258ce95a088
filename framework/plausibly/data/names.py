"""Names of dims, variables and attributes: one constant for each word that crosses a border."""

from __future__ import annotations

DRAW = "draw"
AUGMENTATION = "augmentation"
EXAMPLE = "example"
LABEL = "label"
ANNOTATOR = "annotator"
RESPONSE = "response"
MENTION = "mention"
ALPHA = "alpha"
SLOT = "slot"

RESPONSE_EXAMPLE = "response_example"
RESPONSE_ANNOTATOR = "response_annotator"
RESPONSE_WEIGHT = "response_weight"
RESPONSE_STATE = "response_state"
MENTION_RESPONSE = "mention_response"
MENTION_LABEL = "mention_label"
MENTION_BLOCK = "mention_block"
MENTION_WEIGHT = "mention_weight"

ALIAS = "alias"
PARENT = "parent"
ORDER = "order"

DENOMINATOR = "denominator"
PLAUSIBILITIES = "plausibilities"
WEIGHT = "weight"
LABEL_NAME = "label_name"

KIND = "kind"
UNLISTED = "unlisted"
LABELS_DECLARED = "labels_declared"
LEFT_OUT = "left_out"
MERGED = "merged"
NORMALISED = "normalised"
PARENTS = "parents"
REPEATED = "repeated"
SEAL = "seal"
SCALE = "scale"
NUMBERED = "numbered"  # names of examples that are row numbers, for want of any
JOINT = "joint"
CONVERGENCE = "convergence"

UNKNOWN_ANNOTATOR = -1
NO_LABEL = -1
