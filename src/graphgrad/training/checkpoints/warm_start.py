"""Initial values of variables from another model's checkpoint."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from graphgrad.errors import UnimplementedError
from graphgrad.frontend.graph.collections import GraphKeys
from graphgrad.ir.context import get_default_graph
from graphgrad.ir.source import user_source

from .checkpoint_init import init_from_checkpoint


class VocabInfo(NamedTuple):
    """How the rows of a variable follow from words, in a model and in the one it starts from.

    Args:
      new_vocab, old_vocab: the files with the words.
      new_vocab_size, old_vocab_size: how many words of them are used; -1 for all.
      num_oov_buckets: the number of rows for other words.
      backup_initializer: an initializer of the rows of new words.
      axis: 0 or 1.
    Reference: TensorFlow 2.21 `tf.compat.v1.train.VocabInfo`.
    """

    new_vocab: Any
    new_vocab_size: Any
    num_oov_buckets: Any
    old_vocab: Any
    old_vocab_size: Any = -1
    backup_initializer: Any = None
    axis: Any = 0


def warm_start(ckpt_to_initialize_from: Any, vars_to_warm_start: Any = ".*", var_name_to_vocab_info: Any = None,
               var_name_to_prev_var_name: Any = None) -> None:
    """Lets variables of the default graph begin with the values of a checkpoint.

    Args:
      ckpt_to_initialize_from: the checkpoint, or its folder.
      vars_to_warm_start: a regular expression for the beginning of names of trainable variables; a list of such for
        all variables; a list of variables; or None for none.
      var_name_to_vocab_info: name -> `VocabInfo`; has to be empty here.
      var_name_to_prev_var_name: name -> the name in the checkpoint, where it is another one.
    Raises: UnimplementedError for rows that move with their words; ValueError for names that are in no variable; what
      `tf.train.init_from_checkpoint` raises for variables that do not fit.
    Reference: TensorFlow 2.21 `tf.compat.v1.train.warm_start`.
    """
    if var_name_to_vocab_info:
        raise UnimplementedError(None, None, "warm_start with var_name_to_vocab_info: rows that move with their words."
                                 f"\n  Asked for at {user_source(2)}\n  Fix: keep the vocabulary, or set the rows")
    before = dict(var_name_to_prev_var_name or {})
    graph = get_default_graph()
    if vars_to_warm_start is None:
        chosen: list[Any] = []
    elif isinstance(vars_to_warm_start, str):
        trained = graph.get_collection(GraphKeys.TRAINABLE_VARIABLES)
        chosen = [v for v in trained if re.match(vars_to_warm_start, v.name)]
    else:
        wanted = vars_to_warm_start
        chosen = [v for v in graph.get_collection(GraphKeys.GLOBAL_VARIABLES)
                  if any(re.match(w, v.name) if isinstance(w, str) else w is v for w in wanted)]
    assigned = {before.pop(v.op.name, v.op.name): v for v in chosen}
    if before:
        raise ValueError("You provided the following variables in var_name_to_prev_var_name that were not used: "
                         f"{sorted(before)}.\n  Asked for at {user_source(2)}")
    if assigned:
        init_from_checkpoint(ckpt_to_initialize_from, assigned)
