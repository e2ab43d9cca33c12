"""The extension for IPython: `%load_ext graphgrad`."""

from __future__ import annotations

from typing import Any

from graphgrad.compat import importing

_HTML = "text/html"


def load(shell: Any) -> None:
    """Lets `import tensorflow` mean this package in a notebook, and adds the magic `%tensorflow_version`.

    Lists of tensors, such as gradients, show themselves from then on, as tensors do.

    Args:
      shell: IPython's shell.
    """
    if not importing.installed():
        importing.install(2)
    shell.register_magic_function(_tensorflow_version, "line", "tensorflow_version")
    shell.display_formatter.formatters[_HTML].for_type(list, _list)


def unload(shell: Any) -> None:
    """Undoes `load`; modules that were imported stay.

    Args:
      shell: IPython's shell.
    """
    importing.uninstall()
    shell.magics_manager.magics["line"].pop("tensorflow_version", None)
    shell.display_formatter.formatters[_HTML].pop(list, None)


def _list(values: list[Any]) -> str | None:
    """Returns what a notebook shows of a list, such as gradients; None for its text."""
    from .html import html_of_list

    return html_of_list(values)


def _tensorflow_version(line: str) -> None:
    """Says which TensorFlow `import tensorflow` is from now on: `%tensorflow_version 1.x` or `2.x`."""
    version = line.strip().partition(".")[0]
    if version not in ("1", "2"):
        raise ValueError(f"%tensorflow_version {line.strip() or '(nothing)'}: there are 1.x and 2.x. "
                         "Fix: %tensorflow_version 1.x")
    importing.install(int(version))
