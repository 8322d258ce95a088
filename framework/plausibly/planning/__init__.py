"""Plans: how many examples, annotators and draws are needed."""

from plausibly.planning.plan import Plan, plan

__all__ = ["Plan", "plan"]
