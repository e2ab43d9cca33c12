"""`tf.contrib.data` of TensorFlow 1.15. Written by `make faces` from exports.txt."""

from graphgrad.compat.lazy import face as _face

__all__, __getattr__, __dir__ = _face(__name__, """
graphgrad.extras.data.experimental_datasets: enumerate_dataset get_single_element map_and_batch parallel_interleave
    shuffle_and_repeat unbatch
""")
