"""How the pages of the package are built: `python -m sphinx -nW docs OUT`, as `check.sh` does."""

from typing import Any

project = "cento"
extensions = ["sphinx.ext.autodoc", "sphinx.ext.napoleon", "myst_parser"]
myst_heading_anchors = 3
autodoc_member_order = "bysource"
# Engines and drawings are imported when they are used, and need not be installed.
autodoc_typehints = "none"
html_theme = "alabaster"


def setup(app: Any) -> None:
    app.connect("autodoc-process-docstring", without_types, priority=400)


def without_types(
    _app: Any, what: str, _name: str, _of: Any, _options: Any, lines: list[str]
) -> None:
    """Keeps napoleon from taking what stands before a colon for the type of an attribute.

    It looks at the first line alone, which becomes a comment.
    """
    if what in ("attribute", "data", "property"):
        lines[:0] = ["..", ""]
