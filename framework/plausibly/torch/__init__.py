"""The door of PyTorch: what a module says of the examples of a loader, as predictions.

Needs the extra ``torch``, when it is used.
"""

from plausibly.torch.predicting import predictions

__all__ = ["predictions"]
