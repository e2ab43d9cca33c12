"""`tf.data`. Written by `make faces` from exports.txt."""

from graphgrad.compat.lazy import face as _face

__all__, __getattr__, __dir__ = _face(__name__, """
graphgrad.compat.constants: AUTOTUNE INFINITE_CARDINALITY UNKNOWN_CARDINALITY
graphgrad.compat.v2.data.experimental: experimental=.
graphgrad.extras.data.dataset: Dataset
graphgrad.extras.data.dataset_options: Options ThreadingOptions
graphgrad.extras.data.dataset_specs: DatasetSpec IteratorSpec
graphgrad.extras.data.eager_iterator: Iterator=IteratorBase NumpyIterator
graphgrad.extras.data.record_datasets: FixedLengthRecordDataset TFRecordDataset TextLineDataset
""")
