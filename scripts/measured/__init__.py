"""Calibrators, measured: the figures of docs/calibrators_measured.md and of its tests."""
