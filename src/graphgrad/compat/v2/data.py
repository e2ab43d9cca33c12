"""`tf.data` of TensorFlow 2."""

from graphgrad.extras.data.dataset import Dataset as Dataset
from graphgrad.extras.data.dataset_options import Options as Options
from graphgrad.extras.data.dataset_options import ThreadingOptions as ThreadingOptions
from graphgrad.extras.data.dataset_specs import DatasetSpec as DatasetSpec
from graphgrad.extras.data.eager_iterator import Iterator as Iterator
from graphgrad.extras.data.eager_iterator import NumpyIterator as NumpyIterator
from graphgrad.extras.data.dataset_specs import IteratorSpec as IteratorSpec
from graphgrad.extras.data.record_datasets import FixedLengthRecordDataset as FixedLengthRecordDataset
from graphgrad.extras.data.record_datasets import TextLineDataset as TextLineDataset
from graphgrad.extras.data.record_datasets import TFRecordDataset as TFRecordDataset

AUTOTUNE = INFINITE_CARDINALITY = -1
UNKNOWN_CARDINALITY = -2

# What a name that is missing gets to hear.
from graphgrad.compat.missing import missing_attribute as _missing_attribute

__getattr__ = _missing_attribute(__name__, {"experimental": "graphgrad.compat.v2._data_experimental"})
