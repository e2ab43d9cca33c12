"""`tf.data` of TensorFlow 2."""

from graphgrad.frontend.dataset import Dataset as Dataset
from graphgrad.frontend.dataset_functions import Options as Options
from graphgrad.train.record_datasets import FixedLengthRecordDataset as FixedLengthRecordDataset
from graphgrad.train.record_datasets import TextLineDataset as TextLineDataset
from graphgrad.train.record_datasets import TFRecordDataset as TFRecordDataset
from graphgrad.compat.v2 import _data_experimental as experimental

AUTOTUNE = -1
