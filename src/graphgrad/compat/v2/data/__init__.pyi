"""`tf.data`. Written by `make faces` from exports.txt."""

from graphgrad.compat.constants import AUTOTUNE as AUTOTUNE
from graphgrad.compat.constants import INFINITE_CARDINALITY as INFINITE_CARDINALITY
from graphgrad.compat.constants import UNKNOWN_CARDINALITY as UNKNOWN_CARDINALITY
from graphgrad.compat.v2.data import experimental as experimental
from graphgrad.extras.data.dataset import Dataset as Dataset
from graphgrad.extras.data.dataset_options import Options as Options
from graphgrad.extras.data.dataset_options import ThreadingOptions as ThreadingOptions
from graphgrad.extras.data.dataset_specs import DatasetSpec as DatasetSpec
from graphgrad.extras.data.dataset_specs import IteratorSpec as IteratorSpec
from graphgrad.extras.data.eager_iterator import IteratorBase as Iterator
from graphgrad.extras.data.eager_iterator import NumpyIterator as NumpyIterator
from graphgrad.extras.data.record_datasets import FixedLengthRecordDataset as FixedLengthRecordDataset
from graphgrad.extras.data.record_datasets import TFRecordDataset as TFRecordDataset
from graphgrad.extras.data.record_datasets import TextLineDataset as TextLineDataset

__all__ = [
    "AUTOTUNE", "Dataset", "DatasetSpec", "FixedLengthRecordDataset", "INFINITE_CARDINALITY", "Iterator",
    "IteratorSpec", "NumpyIterator", "Options", "TFRecordDataset", "TextLineDataset", "ThreadingOptions",
    "UNKNOWN_CARDINALITY", "experimental"
]
