"""Paths in a saved model; they are made where they are missing."""

from __future__ import annotations

import os
from typing import Any

from graphgrad.platform.gfile import exists, makedirs


def get_variables_dir(export_dir: Any) -> str:
    """Returns the folder of the variables.

    Args:
      export_dir: the saved model.
    """
    return os.path.join(os.fsdecode(export_dir), "variables")


def get_variables_path(export_dir: Any) -> str:
    """Returns the prefix of the files of the variables.

    Args:
      export_dir: the saved model.
    """
    return os.path.join(get_variables_dir(export_dir), "variables")


def get_assets_dir(export_dir: Any) -> str:
    """Returns the folder of further files.

    Args:
      export_dir: the saved model.
    """
    return os.path.join(os.fsdecode(export_dir), "assets")


def get_or_create_variables_dir(export_dir: Any) -> str:
    """Returns the folder of the variables, which is there then.

    Args:
      export_dir: the saved model.
    """
    return _made(get_variables_dir(export_dir))


def get_or_create_assets_dir(export_dir: Any) -> str:
    """Returns the folder of further files, which is there then.

    Args:
      export_dir: the saved model.
    """
    return _made(get_assets_dir(export_dir))


def _made(folder: str) -> str:
    if not exists(folder):
        makedirs(folder)
    return folder
