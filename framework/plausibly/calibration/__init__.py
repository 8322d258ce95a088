"""One calibration as plain records and arrays: claim, data, scores, pools, p-values, threshold."""
