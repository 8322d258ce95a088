"""What a predictor keeps of earlier questions, so that the same one costs less again."""

from __future__ import annotations

from typing import TypeVar

K = TypeVar("K")
V = TypeVar("V")

_MOST = 128


class Kept(dict[K, V]):
    """The latest answers, 128 at most: a service may be asked for any number of alphas.

    It may be used from several threads: each step is one operation of a dictionary, and an answer
    is complete when it is put in.
    """

    def keep(self, asked: K, answer: V) -> V:
        """Keep an answer and return it; the earliest one goes where there are too many."""
        self[asked] = answer
        if len(self) > _MOST:
            for early in list(self)[:-_MOST]:
                self.pop(early, None)
        return answer
