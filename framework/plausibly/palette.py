"""Colours that readers with any colour vision tell apart: the palette of Okabe and Ito (2008)."""

from __future__ import annotations

BLUE = "#0072B2"
VERMILION = "#D55E00"
GREEN = "#009E73"
PURPLE = "#CC79A7"
ORANGE = "#E69F00"
SKY = "#56B4E9"
INK = "#222222"
GREY = "#767676"
