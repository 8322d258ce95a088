"""Calibration: atoms, p-values, thresholds and the predictor that holds them."""

FORMAT = 4
"""Version of the files of predictors; here, so that it can be told without reading one."""
