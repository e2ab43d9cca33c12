"""The types of operations on data sets that can be read; `dataset_nodes`, loaded when needed, makes them."""

from __future__ import annotations

NEXT = frozenset({"IteratorGetNext", "IteratorGetNextAsOptional", "IteratorGetNextSync"})  # of anonymous iterators
DATASETS = frozenset((
    "AnonymousIterator AnonymousIteratorV2 AnonymousIteratorV3 AnonymousMemoryCache "
    "AnonymousSeedGenerator BatchDataset BatchDatasetV2 CacheDataset CacheDatasetV2 ConcatenateDataset "
    "DatasetCardinality DatasetToSingleElement DummyMemoryCache DummySeedGenerator FilterDataset "
    "FinalizeDataset FlatMapDataset IgnoreErrorsDataset InterleaveDataset MakeIterator MapDataset "
    "MaxIntraOpParallelismDataset ModelDataset OptionsDataset PaddedBatchDataset PaddedBatchDatasetV2 "
    "ParallelBatchDataset ParallelFilterDataset ParallelInterleaveDatasetV2 ParallelInterleaveDatasetV3 "
    "ParallelInterleaveDatasetV4 ParallelMapDataset ParallelMapDatasetV2 PrefetchDataset "
    "PrivateThreadPoolDataset RangeDataset ReduceDataset RepeatDataset RewriteDataset ScanDataset "
    "ShardDataset ShuffleDataset ShuffleDatasetV2 ShuffleDatasetV3 SkipDataset TakeDataset "
    "TakeWhileDataset TensorDataset TensorSliceDataset UnbatchDataset UniqueDataset WindowDataset "
    "ZipDataset"
).split())
