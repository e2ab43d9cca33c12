"""`tf.contrib.data`, as far as programs use it."""

from graphgrad.extras.data.experimental_datasets import enumerate_dataset as enumerate_dataset
from graphgrad.extras.data.experimental_datasets import get_single_element as get_single_element
from graphgrad.extras.data.experimental_datasets import map_and_batch as map_and_batch
from graphgrad.extras.data.experimental_datasets import parallel_interleave as parallel_interleave
from graphgrad.extras.data.experimental_datasets import shuffle_and_repeat as shuffle_and_repeat
from graphgrad.extras.data.experimental_datasets import unbatch as unbatch

# What a name that is missing gets to hear.
from graphgrad.compat.missing import missing_attribute as _missing_attribute

__getattr__ = _missing_attribute(__name__)
