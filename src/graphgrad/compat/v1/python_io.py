"""`tf.python_io` of TensorFlow 1."""

from graphgrad.train.records import TFRecordCompressionType as TFRecordCompressionType
from graphgrad.train.records import TFRecordOptions as TFRecordOptions
from graphgrad.train.records import TFRecordWriter as TFRecordWriter
from graphgrad.train.records import tf_record_iterator as tf_record_iterator
