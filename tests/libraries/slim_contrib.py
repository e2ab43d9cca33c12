"""The programs on tf_slim, which get it as `tf.contrib.slim`: names, scopes of arguments and nets are the library's."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from . import slim
from .run import RECORDED

FACE = 1
EXPECTED = json.loads((RECORDED / "slim.json").read_text())


def _of_contrib(program: Callable[[Any, Any], Any]) -> Callable[[Any], Any]:
    def run(tf: Any) -> Any:
        found = program(tf, tf.contrib.slim)
        assert tf.contrib.layers.conv2d.__module__ == "tf_slim.layers.layers"
        return found

    return run


CASES = {name: _of_contrib(program) for name, program in slim.PROGRAMS.items()}
