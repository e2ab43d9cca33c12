"""`tf.compat` of `import graphgrad.v1 as tf`, whose `v1` is that face."""

from graphgrad.compat.lazy import mirror as _mirror

__all__, __getattr__, __dir__ = _mirror(__name__, "graphgrad.compat", """
graphgrad.v1: v1=.
""")
