"""`tf.io` of TensorFlow 1. Written by `make faces` from exports.txt."""

from graphgrad.compat.lazy import face as _face

__all__, __getattr__, __dir__ = _face(__name__, """
graphgrad.compat.v1.io.gfile: gfile=.
graphgrad.extras.image.codec_functions: decode_and_crop_jpeg decode_bmp decode_gif extract_jpeg_shape
graphgrad.extras.image.decode_encode: decode_image encode_jpeg encode_png is_jpeg
graphgrad.extras.image.jpeg_png: decode_jpeg decode_png
graphgrad.extras.io.csv: decode_csv=decode_csv_v1
graphgrad.extras.io.file_ops: FixedLenFeature VarLenFeature read_file
graphgrad.extras.io.serialized: decode_compressed decode_json_example deserialize_many_sparse
    serialize_many_sparse=serialize_many_sparse_v1 serialize_sparse=serialize_sparse_v1 write_file
graphgrad.extras.io.tensor_proto: parse_tensor serialize_tensor
graphgrad.extras.pipelines.input_producers: match_filenames_once
graphgrad.extras.pipelines.parsing: FixedLenSequenceFeature RaggedFeature SparseFeature parse_example=parse_example_v1
    parse_sequence_example parse_single_example=parse_single_example_v1 parse_single_sequence_example
graphgrad.extras.pipelines.queues: PaddingFIFOQueue PriorityQueue QueueBase RandomShuffleQueue
graphgrad.extras.pipelines.readers: matching_files
graphgrad.extras.pipelines.records: TFRecordCompressionType TFRecordOptions TFRecordWriter tf_record_iterator
graphgrad.extras.strings.string_functions: decode_base64 decode_raw=decode_raw_v1 encode_base64
graphgrad.training.checkpoints.graph_files: write_graph
""")
