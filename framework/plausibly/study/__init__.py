"""A study from its file: read and checked, run, and written, each from Python first."""

from plausibly.study.prepare import Prepared, prepare
from plausibly.study.run import StudyResult, run_study, write_study

__all__ = ["Prepared", "StudyResult", "prepare", "run_study", "write_study"]
