"""The site: Sphinx reads the pages of this folder as they are. `make docs` builds it, offline.

Pages are plain Markdown that a code host shows too. What is made at build time (the reference, the
pictures) is made by the modules in docs/building; the extension docs.building.site puts it there.
"""

from __future__ import annotations

import logging
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from castell.version import VERSION  # noqa: E402

# A package of the theme sets up logging for everybody; fits would tell the build what they do.
logging.getLogger("castell").setLevel(logging.WARNING)

project = "castell"
author = "the authors of castell"
project_copyright = author
version = release = VERSION

extensions = [
    "myst_parser",
    "sphinx_design",
    "sphinx_copybutton",
    "sphinx.ext.autodoc",
    "docs.building.site",
]
exclude_patterns = ["_build"]

# Markdown as a code host reads it: links between files, the anchors of headings, dollar signs.
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath", "html_image"]
myst_heading_anchors = 4
myst_dmath_double_inline = True
highlight_language = "none"
copybutton_prompt_text = "$ "

# Docstrings have `code` in single backticks, as the comments do.
default_role = "code"
autodoc_typehints = "signature"
autodoc_member_order = "groupwise"
autodoc_class_signature = "mixed"
add_module_names = False
# Named as the code names them, not as numpy spells them.
autodoc_type_aliases = {name: name for name in ("Floats", "Values", "Scores", "Kinds", "Progress")}

html_theme = "furo"
html_title = "castell"
html_math_renderer = "mathml"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_search_scorer = str(ROOT / "docs" / "static" / "scorer.js")
html_favicon = "static/icon.svg"
html_copy_source = False
html_show_sphinx = False
# furo's own edit and source links lead to a host; there is none here.
html_theme_options = {"navigation_with_keys": True}
