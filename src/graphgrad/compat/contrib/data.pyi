"""`tf.contrib.data` of TensorFlow 1.15. Written by `make faces` from exports.txt."""

from graphgrad.extras.data.experimental_datasets import enumerate_dataset as enumerate_dataset
from graphgrad.extras.data.experimental_datasets import get_single_element as get_single_element
from graphgrad.extras.data.experimental_datasets import map_and_batch as map_and_batch
from graphgrad.extras.data.experimental_datasets import parallel_interleave as parallel_interleave
from graphgrad.extras.data.experimental_datasets import shuffle_and_repeat as shuffle_and_repeat
from graphgrad.extras.data.experimental_datasets import unbatch as unbatch

__all__ = [
    "enumerate_dataset", "get_single_element", "map_and_batch", "parallel_interleave", "shuffle_and_repeat", "unbatch"
]
