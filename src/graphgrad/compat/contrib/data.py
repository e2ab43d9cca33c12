"""`tf.contrib.data`, as far as programs use it."""

from graphgrad.frontend.dataset_functions import enumerate_dataset as enumerate_dataset
from graphgrad.frontend.dataset_functions import get_single_element as get_single_element
from graphgrad.frontend.dataset_functions import map_and_batch as map_and_batch
from graphgrad.frontend.dataset_functions import parallel_interleave as parallel_interleave
from graphgrad.frontend.dataset_functions import shuffle_and_repeat as shuffle_and_repeat
from graphgrad.frontend.dataset_functions import unbatch as unbatch

# What a name that is missing gets to hear.
from graphgrad.compat.missing import missing_attribute as _missing_attribute

__getattr__ = _missing_attribute(__name__)
