"""`tf.data` of TensorFlow 1. Written by `make faces` from exports.txt."""

from graphgrad.compat.lazy import face as _face

__all__, __getattr__, __dir__ = _face(__name__, """
graphgrad.compat.constants: AUTOTUNE INFINITE_CARDINALITY UNKNOWN_CARDINALITY
graphgrad.compat.v1.data.experimental: experimental=.
graphgrad.extras.data.dataset_options: Options ThreadingOptions
graphgrad.extras.data.dataset_specs: DatasetSpec
graphgrad.extras.data.eager_iterator: NumpyIterator
graphgrad.extras.data.graph_iterator: Dataset=DatasetV1 Iterator get_output_classes get_output_shapes get_output_types
    make_initializable_iterator make_one_shot_iterator
graphgrad.extras.data.record_datasets: FixedLengthRecordDataset TFRecordDataset TextLineDataset
""")
