"""`tf.data.experimental` of TensorFlow 1. Written by `make faces` from exports.txt."""

from graphgrad.compat.constants import AUTOTUNE as AUTOTUNE
from graphgrad.compat.constants import INFINITE_CARDINALITY as INFINITE_CARDINALITY
from graphgrad.compat.constants import UNKNOWN_CARDINALITY as UNKNOWN_CARDINALITY
from graphgrad.extras.data.csv_datasets import CsvDataset as CsvDataset
from graphgrad.extras.data.csv_datasets import make_csv_dataset as make_csv_dataset
from graphgrad.extras.data.dataset_files import DatasetTFRecordWriter as TFRecordWriter
from graphgrad.extras.data.dataset_files import make_batched_features_dataset as make_batched_features_dataset
from graphgrad.extras.data.dataset_files import parse_example_dataset as parse_example_dataset
from graphgrad.extras.data.dataset_options import AutoShardPolicy as AutoShardPolicy
from graphgrad.extras.data.dataset_options import AutotuneAlgorithm as AutotuneAlgorithm
from graphgrad.extras.data.dataset_options import AutotuneOptions as AutotuneOptions
from graphgrad.extras.data.dataset_options import DistributeOptions as DistributeOptions
from graphgrad.extras.data.dataset_options import ExternalStatePolicy as ExternalStatePolicy
from graphgrad.extras.data.dataset_options import OptimizationOptions as OptimizationOptions
from graphgrad.extras.data.dataset_options import ThreadingOptions as ThreadingOptions
from graphgrad.extras.data.dataset_specs import DatasetSpec as DatasetStructure
from graphgrad.extras.data.dataset_specs import RaggedTensorStructure as RaggedTensorStructure
from graphgrad.extras.data.dataset_specs import SparseTensorStructure as SparseTensorStructure
from graphgrad.extras.data.dataset_specs import TensorArrayStructure as TensorArrayStructure
from graphgrad.extras.data.dataset_specs import TensorStructure as TensorStructure
from graphgrad.extras.data.dataset_tables import DatasetInitializer as DatasetInitializer
from graphgrad.extras.data.dataset_tables import index_table_from_dataset as index_table_from_dataset
from graphgrad.extras.data.dataset_tables import table_from_dataset as table_from_dataset
from graphgrad.extras.data.experimental_apply import Reducer as Reducer
from graphgrad.extras.data.experimental_apply import assert_cardinality as assert_cardinality
from graphgrad.extras.data.experimental_apply import bucket_by_sequence_length as bucket_by_sequence_length
from graphgrad.extras.data.experimental_apply import cardinality as cardinality
from graphgrad.extras.data.experimental_apply import choose_from_datasets as choose_from_datasets
from graphgrad.extras.data.experimental_apply import copy_to_device as copy_to_device
from graphgrad.extras.data.experimental_apply import counter as Counter
from graphgrad.extras.data.experimental_apply import dense_to_ragged_batch as dense_to_ragged_batch
from graphgrad.extras.data.experimental_apply import dense_to_sparse_batch as dense_to_sparse_batch
from graphgrad.extras.data.experimental_apply import enable_debug_mode as enable_debug_mode
from graphgrad.extras.data.experimental_apply import from_list as from_list
from graphgrad.extras.data.experimental_apply import from_variant as from_variant
from graphgrad.extras.data.experimental_apply import get_next_as_optional as get_next_as_optional
from graphgrad.extras.data.experimental_apply import get_structure as get_structure
from graphgrad.extras.data.experimental_apply import group_by_reducer as group_by_reducer
from graphgrad.extras.data.experimental_apply import group_by_window as group_by_window
from graphgrad.extras.data.experimental_apply import ignore_errors as ignore_errors
from graphgrad.extras.data.experimental_apply import pad_to_cardinality as pad_to_cardinality
from graphgrad.extras.data.experimental_apply import prefetch_to_device as prefetch_to_device
from graphgrad.extras.data.experimental_apply import random_dataset as RandomDataset
from graphgrad.extras.data.experimental_apply import rejection_resample as rejection_resample
from graphgrad.extras.data.experimental_apply import sample_from_datasets as sample_from_datasets
from graphgrad.extras.data.experimental_apply import scan as scan
from graphgrad.extras.data.experimental_apply import snapshot as snapshot
from graphgrad.extras.data.experimental_apply import take_while as take_while
from graphgrad.extras.data.experimental_apply import to_variant as to_variant
from graphgrad.extras.data.experimental_apply import unique as unique
from graphgrad.extras.data.experimental_datasets import enumerate_dataset as enumerate_dataset
from graphgrad.extras.data.experimental_datasets import get_single_element as get_single_element
from graphgrad.extras.data.experimental_datasets import map_and_batch as map_and_batch
from graphgrad.extras.data.experimental_datasets import map_and_batch_with_legacy_function as map_and_batch_with_legacy_function
from graphgrad.extras.data.experimental_datasets import parallel_interleave as parallel_interleave
from graphgrad.extras.data.experimental_datasets import shuffle_and_repeat as shuffle_and_repeat
from graphgrad.extras.data.experimental_datasets import unbatch as unbatch
from graphgrad.extras.data.graph_iterator import make_saveable_from_iterator as make_saveable_from_iterator
from graphgrad.extras.data.optional import Optional as Optional
from graphgrad.extras.data.optional import OptionalSpec as OptionalStructure
from graphgrad.frontend.structure.type_spec import TypeSpec as Structure

__all__ = [
    "AUTOTUNE", "AutoShardPolicy", "AutotuneAlgorithm", "AutotuneOptions", "Counter", "CsvDataset",
    "DatasetInitializer", "DatasetStructure", "DistributeOptions", "ExternalStatePolicy", "INFINITE_CARDINALITY",
    "OptimizationOptions", "Optional", "OptionalStructure", "RaggedTensorStructure", "RandomDataset", "Reducer",
    "SparseTensorStructure", "Structure", "TFRecordWriter", "TensorArrayStructure", "TensorStructure",
    "ThreadingOptions", "UNKNOWN_CARDINALITY", "assert_cardinality", "bucket_by_sequence_length", "cardinality",
    "choose_from_datasets", "copy_to_device", "dense_to_ragged_batch", "dense_to_sparse_batch", "enable_debug_mode",
    "enumerate_dataset", "from_list", "from_variant", "get_next_as_optional", "get_single_element", "get_structure",
    "group_by_reducer", "group_by_window", "ignore_errors", "index_table_from_dataset", "make_batched_features_dataset",
    "make_csv_dataset", "make_saveable_from_iterator", "map_and_batch", "map_and_batch_with_legacy_function",
    "pad_to_cardinality", "parallel_interleave", "parse_example_dataset", "prefetch_to_device", "rejection_resample",
    "sample_from_datasets", "scan", "shuffle_and_repeat", "snapshot", "table_from_dataset", "take_while", "to_variant",
    "unbatch", "unique"
]
