"""`tf.contrib` of TensorFlow 1.15, as far as programs use it. Modules are imported when first asked for."""

# What a name that is missing gets to hear.
from graphgrad.compat.missing import missing_attribute as _missing_attribute

__all__ = [
    "data", "distributions", "eager", "framework", "graph_editor", "image", "layers", "legacy_seq2seq",
    "memory_stats", "metrics", "nn", "opt", "rnn", "seq2seq", "slim", "staging", "stateless", "tensorboard", "training",
    "util",
]

__getattr__ = _missing_attribute(__name__, {**{name: f"{__name__}.{name}" for name in __all__},
                                            "autograph": "graphgrad.compat.v1.autograph"})
