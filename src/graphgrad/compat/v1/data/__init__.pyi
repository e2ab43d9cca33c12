"""`tf.data` of TensorFlow 1. Written by `make faces` from exports.txt."""

from graphgrad.compat.constants import AUTOTUNE as AUTOTUNE
from graphgrad.compat.constants import INFINITE_CARDINALITY as INFINITE_CARDINALITY
from graphgrad.compat.constants import UNKNOWN_CARDINALITY as UNKNOWN_CARDINALITY
from graphgrad.compat.v1.data import experimental as experimental
from graphgrad.extras.data.dataset_options import Options as Options
from graphgrad.extras.data.dataset_options import ThreadingOptions as ThreadingOptions
from graphgrad.extras.data.dataset_specs import DatasetSpec as DatasetSpec
from graphgrad.extras.data.eager_iterator import NumpyIterator as NumpyIterator
from graphgrad.extras.data.graph_iterator import DatasetV1 as Dataset
from graphgrad.extras.data.graph_iterator import Iterator as Iterator
from graphgrad.extras.data.graph_iterator import get_output_classes as get_output_classes
from graphgrad.extras.data.graph_iterator import get_output_shapes as get_output_shapes
from graphgrad.extras.data.graph_iterator import get_output_types as get_output_types
from graphgrad.extras.data.graph_iterator import make_initializable_iterator as make_initializable_iterator
from graphgrad.extras.data.graph_iterator import make_one_shot_iterator as make_one_shot_iterator
from graphgrad.extras.data.record_datasets import FixedLengthRecordDataset as FixedLengthRecordDataset
from graphgrad.extras.data.record_datasets import TFRecordDataset as TFRecordDataset
from graphgrad.extras.data.record_datasets import TextLineDataset as TextLineDataset

__all__ = [
    "AUTOTUNE", "Dataset", "DatasetSpec", "FixedLengthRecordDataset", "INFINITE_CARDINALITY", "Iterator",
    "NumpyIterator", "Options", "TFRecordDataset", "TextLineDataset", "ThreadingOptions", "UNKNOWN_CARDINALITY",
    "experimental", "get_output_classes", "get_output_shapes", "get_output_types", "make_initializable_iterator",
    "make_one_shot_iterator"
]
