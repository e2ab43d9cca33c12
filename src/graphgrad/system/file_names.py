"""The names of files as readers know them."""

from __future__ import annotations

import os
import sys


def shown_name(path: str) -> str:
    """Returns the name of a file without its folder; In[3] for the third cell of a notebook."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if shell is not None:
        told = getattr(shell.compile, "format_code_name", lambda name: None)(path)  # ("Cell", "In[3]")
        if told is not None:
            return str(told[1])
    return os.path.basename(path)
