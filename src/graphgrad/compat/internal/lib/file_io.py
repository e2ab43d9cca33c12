"""Functions on files, by the names that TensorFlow's inside has for them."""

from __future__ import annotations

from typing import Any

from graphgrad.platform.gfile import GFile as FileIO
from graphgrad.platform.gfile import copy, glob, rename, stat
from graphgrad.platform.gfile import copy as copy_v2
from graphgrad.platform.gfile import exists as file_exists
from graphgrad.platform.gfile import exists as file_exists_v2
from graphgrad.platform.gfile import glob as get_matching_files
from graphgrad.platform.gfile import glob as get_matching_files_v2
from graphgrad.platform.gfile import isdir as is_directory
from graphgrad.platform.gfile import isdir as is_directory_v2
from graphgrad.platform.gfile import listdir as list_directory
from graphgrad.platform.gfile import listdir as list_directory_v2
from graphgrad.platform.gfile import makedirs as recursive_create_dir
from graphgrad.platform.gfile import makedirs as recursive_create_dir_v2
from graphgrad.platform.gfile import mkdir as create_dir
from graphgrad.platform.gfile import mkdir as create_dir_v2
from graphgrad.platform.gfile import remove as delete_file
from graphgrad.platform.gfile import remove as delete_file_v2
from graphgrad.platform.gfile import rename as rename_v2
from graphgrad.platform.gfile import rmtree as delete_recursively
from graphgrad.platform.gfile import rmtree as delete_recursively_v2
from graphgrad.platform.gfile import stat as stat_v2
from graphgrad.platform.gfile import walk as walk_v2


def read_file_to_string(filename: Any, binary_mode: bool = False) -> Any:
    """Returns a file's content, as bytes if `binary_mode` is set, else as text.

    Args:
      filename: its path.
      binary_mode: whether bytes are wanted.
    """
    with FileIO(filename, "rb" if binary_mode else "r") as f:
        return f.read()


def write_string_to_file(filename: Any, file_content: Any) -> None:
    """Writes a file.

    Args:
      filename: its path.
      file_content: text or bytes.
    """
    with FileIO(filename, "w") as f:
        f.write(file_content)


def atomic_write_string_to_file(filename: Any, contents: Any, overwrite: bool = True) -> None:
    """Writes a file beside its place, then moves it there.

    Args:
      filename: its path.
      contents: text or bytes.
      overwrite: whether a file that is there is replaced.
    """
    beside = f"{filename}.tmp"
    write_string_to_file(beside, contents)
    rename(beside, filename, overwrite)
