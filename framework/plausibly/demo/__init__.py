"""Data and studies that run without a file of one's own: real ratings, and a toy with a truth."""
