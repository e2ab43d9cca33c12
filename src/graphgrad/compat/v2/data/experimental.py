"""`tf.data.experimental`. Written by `make faces` from exports.txt."""

from graphgrad.compat.lazy import face as _face

__all__, __getattr__, __dir__ = _face(__name__, """
graphgrad.compat.constants: AUTOTUNE INFINITE_CARDINALITY UNKNOWN_CARDINALITY
graphgrad.extras.data.csv_datasets: CsvDataset make_csv_dataset
graphgrad.extras.data.dataset_files: TFRecordWriter=DatasetTFRecordWriter load make_batched_features_dataset
    parse_example_dataset save
graphgrad.extras.data.dataset_options: AutoShardPolicy AutotuneAlgorithm AutotuneOptions DistributeOptions
    ExternalStatePolicy OptimizationOptions ThreadingOptions
graphgrad.extras.data.dataset_tables: DatasetInitializer index_table_from_dataset table_from_dataset
graphgrad.extras.data.experimental_apply: Counter=counter RandomDataset=random_dataset Reducer assert_cardinality at
    bucket_by_sequence_length cardinality choose_from_datasets copy_to_device dense_to_ragged_batch
    dense_to_sparse_batch enable_debug_mode from_list from_variant get_next_as_optional get_structure group_by_reducer
    group_by_window ignore_errors pad_to_cardinality prefetch_to_device rejection_resample sample_from_datasets scan
    snapshot take_while to_variant unique
graphgrad.extras.data.experimental_datasets: enumerate_dataset get_single_element map_and_batch parallel_interleave
    shuffle_and_repeat unbatch
graphgrad.extras.data.graph_iterator: make_saveable_from_iterator
graphgrad.extras.data.optional: Optional
""")
