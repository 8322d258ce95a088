"""How Sphinx builds these pages: offline, with nothing from elsewhere."""

from __future__ import annotations

import sys
from importlib.metadata import version as installed
from pathlib import Path

from pygments.lexers.special import TextLexer
from sphinx.highlighting import lexers

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "plausibly"
author = "The plausibly developers"
copyright = f"2026, {author}"  # the name that Sphinx asks for
version = release = installed("plausibly")

extensions = [
    "accessible",
    "cut_docs",
    "math_by_browser",
    "message_links",
    "myst_parser",
    "numpydoc",
    "public_names",
    "sphinx.ext.autodoc",
]
exclude_patterns = ["_build", "_ext"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
default_role = "py:obj"
nitpicky = True
# Docstrings name types of numpy, xarray and attrs, and say `alpha` of a parameter: there is nothing
# of those to link to offline. Links between pages, sections, terms and options stay strict.
nitpick_ignore_regex = [("py:.*", ".*")]

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 4
myst_dmath_allow_space = False
myst_dmath_allow_digits = False
myst_number_code_blocks: list[str] = []
html_math_renderer = "mathml"

autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
add_module_names = False
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 88

highlight_language = "none"
lexers["csv"] = TextLexer()

html_theme = "furo"
html_title = "plausibly"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_search_scorer = str(Path(__file__).parent / "_static" / "scorer.js")
html_favicon = "_static/favicon.svg"
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {"navigation_with_keys": True}
# A folder of pages that is still empty is no mistake of the others.
