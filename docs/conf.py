"""Sphinx configuration of the documentation site, made by ``make site``; the pages are plain Markdown."""

import sys
import tomllib
from pathlib import Path

DOCS = Path(__file__).resolve().parent
sys.path[:0] = [str(DOCS.parent), str(DOCS), str(DOCS / "extensions")]
PROJECT = tomllib.loads((DOCS.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]

project = PROJECT["name"]
version = release = PROJECT["version"]
author = PROJECT["authors"][0]["name"]
project_copyright = author

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx.ext.githubpages",  # folders that begin with _ are served too
    "sphinx_copybutton",
    "navigation",
    "search_terms",
    "api_pages",
    "mathml",
    "pictures",
]
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = f"{project} {version}"
html_theme_options = {"navigation_with_keys": True}
html_static_path = ["static"]
html_css_files = ["site.css"]
html_show_copyright = False
html_show_sourcelink = html_copy_source = False

myst_enable_extensions = ["dollarmath", "amsmath"]
myst_heading_anchors = 3

nb_execution_mode = "cache"  # "off": pages without results and without the pictures that commands draw
nb_execution_raise_on_error = True
nb_execution_in_temp = True
nb_execution_timeout = 300
nb_execution_cache_path = str(DOCS / "_build" / "notebooks")
nb_merge_streams = True

autosummary_generate = False
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
autodoc_class_signature = "mixed"
napoleon_numpy_docstring = False
napoleon_use_ivar = True
napoleon_attr_annotations = False
napoleon_use_rtype = False
napoleon_use_admonition_for_examples = False
python_maximum_signature_line_length = 100
add_module_names = False
copybutton_exclude = ".linenos, .gp, .go"
