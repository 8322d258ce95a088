"""Numerics on plain arrays: draws, integer masses, ranks and order statistics."""
