"""`tf.python_io` of TensorFlow 1. Written by `make faces` from exports.txt."""

from graphgrad.extras.pipelines.records import TFRecordCompressionType as TFRecordCompressionType
from graphgrad.extras.pipelines.records import TFRecordOptions as TFRecordOptions
from graphgrad.extras.pipelines.records import TFRecordWriter as TFRecordWriter
from graphgrad.extras.pipelines.records import tf_record_iterator as tf_record_iterator

__all__ = [
    "TFRecordCompressionType", "TFRecordOptions", "TFRecordWriter", "tf_record_iterator"
]
