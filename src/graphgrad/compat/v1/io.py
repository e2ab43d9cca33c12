"""`tf.io` of TensorFlow 1."""

# -- sparse, strings ---------------------------------------------------------------------
from graphgrad.ops.string_functions import decode_base64 as decode_base64
from graphgrad.ops.string_functions import decode_raw_v1 as decode_raw
from graphgrad.ops.string_functions import encode_base64 as encode_base64

# -- files and examples -------------------------------------------------------------------
from graphgrad.ops.files import FixedLenFeature as FixedLenFeature
from graphgrad.ops.files import VarLenFeature as VarLenFeature
from graphgrad.ops.files import decode_jpeg as decode_jpeg
from graphgrad.ops.files import decode_png as decode_png
from graphgrad.ops.files import read_file as read_file
from graphgrad.train.records import TFRecordOptions as TFRecordOptions
from graphgrad.train.records import TFRecordWriter as TFRecordWriter
from graphgrad.train.records import TFRecordCompressionType as TFRecordCompressionType
from graphgrad.train.records import tf_record_iterator as tf_record_iterator
from graphgrad.compat.v1 import _io_gfile as gfile
from graphgrad.ops.serialize import serialize_tensor as serialize_tensor
from graphgrad.ops.serialize import parse_tensor as parse_tensor
from graphgrad.ops.image_files import decode_image as decode_image
from graphgrad.ops.image_files import encode_jpeg as encode_jpeg
from graphgrad.ops.image_files import encode_png as encode_png
from graphgrad.ops.image_files import is_jpeg as is_jpeg
from graphgrad.ops.image_codecs import decode_and_crop_jpeg as decode_and_crop_jpeg
from graphgrad.ops.image_codecs import decode_bmp as decode_bmp
from graphgrad.ops.image_codecs import decode_gif as decode_gif
from graphgrad.ops.image_codecs import extract_jpeg_shape as extract_jpeg_shape
from graphgrad.frontend.parsing import FixedLenSequenceFeature as FixedLenSequenceFeature
from graphgrad.frontend.parsing import SparseFeature as SparseFeature
from graphgrad.frontend.parsing import RaggedFeature as RaggedFeature
from graphgrad.frontend.parsing import parse_example_v1 as parse_example
from graphgrad.frontend.parsing import parse_sequence_example as parse_sequence_example
from graphgrad.frontend.parsing import parse_single_sequence_example as parse_single_sequence_example
from graphgrad.frontend.parsing import parse_single_example_v1 as parse_single_example
from graphgrad.ops.file_formats import write_file as write_file
from graphgrad.ops.file_formats import decode_compressed as decode_compressed
from graphgrad.ops.file_formats import decode_json_example as decode_json_example
from graphgrad.ops.file_formats import deserialize_many_sparse as deserialize_many_sparse
from graphgrad.ops.file_formats import serialize_sparse_v1 as serialize_sparse
from graphgrad.ops.file_formats import serialize_many_sparse_v1 as serialize_many_sparse
from graphgrad.train.graph_files import write_graph as write_graph

# What is ragged takes another way.
from graphgrad.frontend.ragged_dispatch import takes_ragged as _takes_ragged

_takes_ragged(globals())
from graphgrad.frontend.readers import matching_files as matching_files
from graphgrad.ops.csv import decode_csv_v1 as decode_csv
from graphgrad.train.input_producers import match_filenames_once as match_filenames_once
from graphgrad.frontend.queues import PaddingFIFOQueue as PaddingFIFOQueue
from graphgrad.frontend.queues import PriorityQueue as PriorityQueue
from graphgrad.frontend.queues import QueueBase as QueueBase
from graphgrad.frontend.queues import RandomShuffleQueue as RandomShuffleQueue
