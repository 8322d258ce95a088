"""Calibration: atoms, p-values, thresholds and the predictor that holds them."""
