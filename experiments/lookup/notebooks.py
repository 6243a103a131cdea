"""Whether this is a notebook."""

import sys


def in_notebook() -> bool:
    """Whether what a cell returns is shown as HTML: in Jupyter's kernels, not in a terminal."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return shell is not None and hasattr(shell, "kernel")
