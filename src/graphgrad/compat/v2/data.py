"""`tf.data` of TensorFlow 2."""

from graphgrad.frontend.dataset import Dataset as Dataset
from graphgrad.frontend.dataset_options import Options as Options
from graphgrad.frontend.dataset_options import ThreadingOptions as ThreadingOptions
from graphgrad.frontend.type_specs import DatasetSpec as DatasetSpec
from graphgrad.frontend.dataset_eager import Iterator as Iterator
from graphgrad.frontend.dataset_eager import NumpyIterator as NumpyIterator
from graphgrad.frontend.type_specs import IteratorSpec as IteratorSpec
from graphgrad.train.record_datasets import FixedLengthRecordDataset as FixedLengthRecordDataset
from graphgrad.train.record_datasets import TextLineDataset as TextLineDataset
from graphgrad.train.record_datasets import TFRecordDataset as TFRecordDataset

AUTOTUNE = INFINITE_CARDINALITY = -1
UNKNOWN_CARDINALITY = -2

# What a name that is missing gets to hear.
from graphgrad.compat.missing import missing_attribute as _missing_attribute

__getattr__ = _missing_attribute(__name__, {"experimental": "graphgrad.compat.v2._data_experimental"})
