"""`tf.io`. Written by `make faces` from exports.txt."""

from graphgrad.compat.v2.io import gfile as gfile
from graphgrad.extras.image.codec_functions import decode_and_crop_jpeg as decode_and_crop_jpeg
from graphgrad.extras.image.codec_functions import decode_bmp as decode_bmp
from graphgrad.extras.image.codec_functions import decode_gif as decode_gif
from graphgrad.extras.image.codec_functions import extract_jpeg_shape as extract_jpeg_shape
from graphgrad.extras.image.decode_encode import decode_image as decode_image
from graphgrad.extras.image.decode_encode import encode_jpeg as encode_jpeg
from graphgrad.extras.image.decode_encode import encode_png as encode_png
from graphgrad.extras.image.decode_encode import is_jpeg as is_jpeg
from graphgrad.extras.image.jpeg_png import decode_jpeg as decode_jpeg
from graphgrad.extras.image.jpeg_png import decode_png as decode_png
from graphgrad.extras.io.csv import decode_csv as decode_csv
from graphgrad.extras.io.file_ops import FixedLenFeature as FixedLenFeature
from graphgrad.extras.io.file_ops import VarLenFeature as VarLenFeature
from graphgrad.extras.io.file_ops import read_file as read_file
from graphgrad.extras.io.serialized import decode_compressed as decode_compressed
from graphgrad.extras.io.serialized import decode_json_example as decode_json_example
from graphgrad.extras.io.serialized import deserialize_many_sparse as deserialize_many_sparse
from graphgrad.extras.io.serialized import serialize_many_sparse as serialize_many_sparse
from graphgrad.extras.io.serialized import serialize_sparse as serialize_sparse
from graphgrad.extras.io.serialized import write_file as write_file
from graphgrad.extras.io.tensor_proto import parse_tensor as parse_tensor
from graphgrad.extras.io.tensor_proto import serialize_tensor as serialize_tensor
from graphgrad.extras.pipelines.input_producers import match_filenames_once as match_filenames_once
from graphgrad.extras.pipelines.parsing import FixedLenSequenceFeature as FixedLenSequenceFeature
from graphgrad.extras.pipelines.parsing import RaggedFeature as RaggedFeature
from graphgrad.extras.pipelines.parsing import SparseFeature as SparseFeature
from graphgrad.extras.pipelines.parsing import parse_example as parse_example
from graphgrad.extras.pipelines.parsing import parse_sequence_example as parse_sequence_example
from graphgrad.extras.pipelines.parsing import parse_single_example as parse_single_example
from graphgrad.extras.pipelines.parsing import parse_single_sequence_example as parse_single_sequence_example
from graphgrad.extras.pipelines.readers import matching_files as matching_files
from graphgrad.extras.pipelines.records import TFRecordOptions as TFRecordOptions
from graphgrad.extras.pipelines.records import TFRecordWriter as TFRecordWriter
from graphgrad.extras.strings.string_functions import decode_base64 as decode_base64
from graphgrad.extras.strings.string_functions import decode_raw as decode_raw
from graphgrad.extras.strings.string_functions import encode_base64 as encode_base64
from graphgrad.training.checkpoints.graph_files import write_graph as write_graph

__all__ = [
    "FixedLenFeature", "FixedLenSequenceFeature", "RaggedFeature", "SparseFeature", "TFRecordOptions", "TFRecordWriter",
    "VarLenFeature", "decode_and_crop_jpeg", "decode_base64", "decode_bmp", "decode_compressed", "decode_csv",
    "decode_gif", "decode_image", "decode_jpeg", "decode_json_example", "decode_png", "decode_raw",
    "deserialize_many_sparse", "encode_base64", "encode_jpeg", "encode_png", "extract_jpeg_shape", "gfile", "is_jpeg",
    "match_filenames_once", "matching_files", "parse_example", "parse_sequence_example", "parse_single_example",
    "parse_single_sequence_example", "parse_tensor", "read_file", "serialize_many_sparse", "serialize_sparse",
    "serialize_tensor", "write_file", "write_graph"
]
