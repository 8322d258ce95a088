"""Plans: how many examples, annotators and draws are needed."""

from plausibly.planning.plan import describe_plan, plan, plan_as_json

__all__ = ["describe_plan", "plan", "plan_as_json"]
