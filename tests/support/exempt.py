"""What the tests of completeness leave out, each with its reason. An entry that is not needed any more fails too."""

# Op types without a row in the table: where they are tested instead.
_STATE = "its result is a side effect on a variable: tests/ops/state/test_state_ops.py"
_HELD = "it holds a value for a gradient that comes later: tests/behaviours/state/state.py"
_TRAINING = "its result is a side effect on variables: tests/training/test_optimizers.py"
_VARIABLES = "its result is a side effect on a variable: tests/frontend/test_variables.py"
_CONTROL = "its sub-graphs need a program around them: tests/frontend/test_control_flow.py"
_FILES = "it reads files or encoded data: tests/extras/test_files.py"
_EFFECT = "its result is a side effect: tests/ops/test_host_ops.py"
_LISTS = "it takes or gives a list of tensors: tests/frontend/test_tensor_array.py"
_ITERATORS = "its result depends on what ran before: tests/extras/data/test_data.py"
_PLACES = "it moves an iterator: tests/extras/data/test_iterator_places.py"
_PASSES = "its handle is a Python object: tests/extras/data/test_dataset_loops.py"
_TABLES = "its result depends on what ran before: tests/extras/test_lookup.py"
_QUEUES = "its result depends on what ran before: tests/extras/test_queues.py"
_SUMMARIES = "its result is a side effect, or a message: tests/training/test_summaries_v2.py"
_OPTIONAL = "its operand may hold nothing: tests/extras/data/test_optional.py"
_GENERATORS = "its result depends on the state of a variable, or on nothing: tests/ops/random/test_random_generator.py"
_SESSIONS = "its result is kept by a session, or depends on that: tests/behaviours/state/kept_tensors.py"
_THIRD = "it takes or gives a list of tensors: tests/gradients/test_third_derivatives.py"
_PROCESSES = "it takes several processes: tests/extras/distribute/test_processes.py"
_CUDNN = "a function of NVIDIA's library: graphs can hold it, nothing here computes it"
OPS: dict[str, str] = {
    "CudnnRNNV3": _CUDNN,
    "GetSessionHandle": _SESSIONS, "GetSessionTensor": _SESSIONS, "DeleteSessionTensor": _SESSIONS,
    "ProcessesSize": _PROCESSES, "ProcessesStack": _PROCESSES,
    "ProcessesAllReduce": _PROCESSES, "ProcessesAllGather": _PROCESSES, "ProcessesBroadcast": _PROCESSES,
    "TensorListReserve": _LISTS, "EmptyTensorList": _LISTS, "TensorListLength": _LISTS,
    "TensorListElementShape": _LISTS, "TensorListGetItem": _LISTS, "TensorListSetItem": _LISTS,
    "TensorListStack": _LISTS, "TensorListFromTensor": _LISTS, "TensorListGather": _LISTS,
    "TensorListScatterV2": _LISTS, "TensorListScatterIntoExistingList": _LISTS, "TensorListSplit": _LISTS,
    "TensorListConcatV2": _LISTS, "TensorListResize": _LISTS, "TensorListPushBack": _LISTS, "TensorListPopBack": _LISTS,
    "TensorListConcat": _THIRD, "TensorListScatter": _THIRD, "ResourceGatherNd": _VARIABLES,
    "InitializeTableV2": _TABLES, "InitializeTableFromTextFileV2": _TABLES, "LookupTableFindV2": _TABLES,
    "LookupTableInsertV2": _TABLES, "LookupTableRemoveV2": _TABLES, "LookupTableSizeV2": _TABLES,
    "LookupTableExportV2": _TABLES, "LookupTableImportV2": _TABLES,
    **dict.fromkeys(("RngReadAndSkip", "RngSkip", "StatefulRandomBinomial", "StatefulUniform", "StatefulUniformInt",
                     "StatefulUniformFullInt", "StatefulStandardNormalV2", "StatefulTruncatedNormal",
                     "NonDeterministicInts"), _GENERATORS),
    "OptionalFromValue": _OPTIONAL, "OptionalGetValue": _OPTIONAL, "OptionalNone": _OPTIONAL,
    "OptionalHasValue": _OPTIONAL,
    "MakeIterator": _ITERATORS, "IteratorGetNext": _ITERATORS, "IteratorGetNextAsOptional": _ITERATORS,
    "IteratorPlace": _PLACES, "IteratorGoTo": _PLACES,
    "IteratorToStringHandle": _ITERATORS, "IteratorGetNextFromString": _ITERATORS, "DatasetResult": _ITERATORS,
    "DatasetPass": _PASSES, "DatasetHas": _PASSES, "DatasetItem": _PASSES, "DatasetTake": _PASSES,
    "DatasetHasActing": _PASSES, "DatasetItemActing": _PASSES,
    "OwnedIteratorHas": _PASSES, "OwnedIteratorGetNext": _PASSES, "OwnedIteratorGetNextAsOptional": _PASSES,
    **dict.fromkeys((
        "FIFOQueueV2", "PaddingFIFOQueueV2", "RandomShuffleQueueV2", "PriorityQueueV2", "QueueEnqueueV2",
        "QueueEnqueueManyV2", "QueueDequeueV2", "QueueDequeueManyV2", "QueueDequeueUpToV2", "QueueCloseV2",
        "QueueSizeV2", "QueueIsClosedV2", "TextLineReaderV2", "WholeFileReaderV2", "IdentityReaderV2",
        "TFRecordReaderV2", "FixedLengthRecordReaderV2", "ReaderReadV2", "ReaderReadUpToV2",
        "ReaderNumRecordsProducedV2", "ReaderNumWorkUnitsCompletedV2", "ReaderSerializeStateV2",
        "ReaderRestoreStateV2", "ReaderResetV2"), _QUEUES),
    "MatchingFiles": "it looks at files: tests/extras/test_queues.py",
    "DecodeCSV": "it reads text: tests/extras/test_queues.py",
    "DatasetVariant": _ITERATORS, "WriteSummary": _SUMMARIES, "FlushSummaryWriter": _SUMMARIES,
    "CloseSummaryWriter": _SUMMARIES, "AudioSummaryV2": _SUMMARIES,
    "AudioSummary": "the older form of AudioSummaryV2: tests/training/test_summaries.py",
    "TensorSummary": _SUMMARIES,
    "NoOp": _EFFECT, "ControlTrigger": _EFFECT, "PrintV2": _EFFECT, "Timestamp": _EFFECT,
    "If": _CONTROL, "While": _CONTROL, "LoopBound": _CONTROL, "LoopSegments": _CONTROL,
    "VectorizedMap": "its sub-graph needs a program around it: tests/gradients/test_higher.py",
    "ReadFile": _FILES, "DecodeJpeg": _FILES, "DecodePng": _FILES, "DecodeImage": _FILES, "EncodePng": _FILES,
    "EncodeJpeg": _FILES, "ParseSingleExample": _FILES,
    **dict.fromkeys(("DecodeBmp", "DecodeGif", "DecodeAndCropJpeg", "ExtractJpegShape", "EncodeJpegVariableQuality"),
                    "it reads encoded images: tests/extras/test_image_codecs.py"),
    **dict.fromkeys(("RaggedTensorToVariant", "RaggedTensorFromVariant", "RaggedTensorToVariantGradient",
                     "RaggedVariantLike"), "it takes or gives a variant: tests/extras/test_ragged_variants.py"),
    **dict.fromkeys(("UnicodeDecode", "UnicodeDecodeWithOffsets", "UnicodeEncode", "UnicodeTranscode", "UnicodeScript",
                     "StringNGrams", "SparseCross", "SparseCrossV2", "RaggedCross", "DecodeWav", "EncodeWav"),
                    "its functions' values are recorded from TensorFlow: tests/extras/test_ragged_dispatch.py"),
    **dict.fromkeys(("ParseExampleV2", "ParseSequenceExampleV2", "WriteFile", "DecodeCompressed", "SerializeSparse",
                     "SerializeManySparse", "DeserializeManySparse", "DecodeJSONExample"),
                    "it reads files or encoded data: tests/extras/test_parsing.py"),
    **dict.fromkeys(("SaveV2", "RestoreV2", "MergeV2Checkpoints", "ShardedFilename", "DisableCopyOnRead"),
                    "it writes or reads checkpoints, or is for those: tests/training/test_checkpoint_ops.py"),
    "VariableOf": _HELD,
    "VarHandleOp": _STATE, "ReadVariableOp": _STATE, "AssignVariableOp": _STATE, "AssignAddVariableOp": _STATE,
    "AssignSubVariableOp": _STATE, "VarIsInitializedOp": _STATE, "ResourceGather": _STATE, "VariableShape": _STATE,
    "ResourceScatterUpdate": _STATE, "ResourceScatterAdd": _STATE, "ResourceScatterSub": _STATE,
    "ResourceScatterMul": _STATE, "ResourceScatterDiv": _STATE, "ResourceScatterMin": _STATE,
    "ResourceScatterMax": _STATE,
    "ResourceApplyGradientDescent": _TRAINING, "ResourceApplyMomentum": _TRAINING,
    "ResourceSparseApplyMomentum": _TRAINING, "ResourceApplyAdam": _TRAINING, "ResourceApplyAdagrad": _TRAINING,
    "ResourceSparseApplyAdagrad": _TRAINING, "ResourceApplyRMSProp": _TRAINING,
    "ResourceApplyCenteredRMSProp": _TRAINING, "ResourceSparseApplyRMSProp": _TRAINING,
    "ResourceSparseApplyCenteredRMSProp": _TRAINING, "ResourceApplyAdadelta": _TRAINING,
    "ResourceSparseApplyAdadelta": _TRAINING, "ResourceApplyFtrl": _TRAINING, "ResourceApplyFtrlV2": _TRAINING,
    "ResourceSparseApplyFtrl": _TRAINING, "ResourceSparseApplyFtrlV2": _TRAINING,
    "ResourceApplyAdagradV2": _TRAINING, "ResourceSparseApplyAdagradV2": _TRAINING,
    "ResourceApplyKerasMomentum": _TRAINING, "ResourceSparseApplyKerasMomentum": _TRAINING,
    "ResourceApplyAdaMax": _TRAINING, "ResourceApplyAdamWithAmsgrad": _TRAINING,
    "ResourceApplyAdagradDA": _TRAINING, "ResourceSparseApplyAdagradDA": _TRAINING,
    "ResourceApplyProximalAdagrad": _TRAINING, "ResourceSparseApplyProximalAdagrad": _TRAINING,
    "ResourceApplyProximalGradientDescent": _TRAINING, "ResourceSparseApplyProximalGradientDescent": _TRAINING,
    "ResourceScatterNdUpdate": _VARIABLES, "ResourceScatterNdAdd": _VARIABLES, "ResourceScatterNdSub": _VARIABLES,
    "ResourceScatterNdMin": _VARIABLES, "ResourceScatterNdMax": _VARIABLES, "ResourceCountUpTo": _VARIABLES,
    "ResourceStridedSliceAssign": _VARIABLES,
}

# Op types whose gradient is declared otherwise than TensorFlow declares it.
GRADIENTS: dict[str, str] = {"CudnnRNNV3": _CUDNN}

# Op types with a gradient whose third derivatives nothing checks.
_ANY_GAMMA = "its derivative for alpha holds the quantile fixed: RandomGammaGrad's row checks what it consists of"
_THROUGH = "its gradient passes through what it rounds, which is not the derivative: its row says what it is"
ORDERS: dict[str, str] = {
    **dict.fromkeys(("RaggedTensorToVariant", "RaggedTensorFromVariant", "RaggedTensorToVariantGradient",
                     "RaggedVariantLike"), "tests/extras/test_ragged_variants.py differentiates it three times"),
    **dict.fromkeys(("FakeQuantWithMinMaxArgs", "FakeQuantWithMinMaxVars", "FakeQuantWithMinMaxVarsPerChannel",
                     "QuantizeAndDequantize", "QuantizeAndDequantizeV2", "QuantizeAndDequantizeV3",
                     "QuantizeAndDequantizeV4"), _THROUGH),
    "CTCLossV2": "it is CTCLoss with another number for the blank; the rows of CTCLoss differentiate that three times",
    "ArgMax": "positions have no derivative", "ArgMin": "positions have no derivative",
    "PreventGradient": "its gradient is an error",
    **dict.fromkeys(("ProcessesAllReduce", "ProcessesAllGather", "ProcessesBroadcast", "ProcessesStack"), _PROCESSES),
    "BlockLSTMGrad": "what it saved must belong to its inputs: BlockLSTM's rows differentiate it three times",
    "BlockLSTMGradV2": "what it saved must belong to its inputs: BlockLSTMV2's rows differentiate it three times",
    "RandomGamma": _ANY_GAMMA, "StatelessRandomGammaV2": _ANY_GAMMA, "StatelessRandomGammaV3": _ANY_GAMMA,
}

# Names exported by a face that TensorFlow does not have, as "v1:name" or "v2:name".
_OWN = "graphgrad's own"
_HIGHER = "TensorFlow keeps it in tensorflow.python.ops.parallel_for, which is not public; programs use it"
_OF_0 = "a name that TensorFlow had before 1.0; programs of that time use it"
NAMES: dict[str, str] = {
    "v1:scalar_summary": _OF_0, "v1:histogram_summary": _OF_0, "v1:image_summary": _OF_0, "v1:merge_summary": _OF_0,
    "v1:merge_all_summaries": _OF_0, "v1:train.SummaryWriter": _OF_0,
    "v1:Defun": "tensorflow.python.framework.function.Defun of TensorFlow 1, which programs import from there",
    "v1:nn.rnn_cell": "TensorFlow hides its module of cells where Keras 3 is installed: tests/frontend/test_rnn.py",
    "v1:layers": "TensorFlow hides its layers where Keras 3 is installed: tests/layers/test_layers.py",
    "v1:explain_gradient": _OWN, "v2:explain_gradient": _OWN,
    "v1:view_graph": _OWN, "v2:view_graph": _OWN, "v1:show_progress": _OWN, "v2:show_progress": _OWN,
    "v1:use_compiled_programs": _OWN, "v2:use_compiled_programs": _OWN,
    "v1:define_op": _OWN, "v2:define_op": _OWN,
    "v1:strict_gradients": _OWN, "v2:strict_gradients": _OWN,
    "v1:memoize_gradients": _OWN, "v2:memoize_gradients": _OWN,
    "v1:optimize_derivatives": _OWN, "v2:optimize_derivatives": _OWN,
    "v1:derivatives_report": _OWN, "v2:derivatives_report": _OWN,
    "v1:checkpointed_loops": _OWN, "v2:checkpointed_loops": _OWN,
    "v1:locate_nonfinite": _OWN, "v2:locate_nonfinite": _OWN,
    "v1:implicit": _OWN, "v2:implicit": _OWN,
    "v1:sparsity": _OWN, "v2:sparsity": _OWN,
    "v1:taylor": _OWN, "v2:taylor": _OWN, "v1:laplacian": _OWN, "v2:laplacian": _OWN,
    "v1:differential_operator": _OWN, "v2:differential_operator": _OWN,
    "v1:batch_hessian": _OWN, "v2:batch_hessian": _OWN,
    "v1:hessian": _OWN, "v2:hessian": _OWN, "v1:vjp": _OWN, "v2:vjp": _OWN,
    "v1:as_function": _OWN, "v2:as_function": _OWN,
    "v1:mesh": _OWN, "v2:mesh": _OWN, "v1:shard": _OWN, "v2:shard": _OWN,
    "v1:distribute.Mesh": _OWN, "v2:distribute.Mesh": _OWN,
    "v1:formula": _OWN, "v2:formula": _OWN,
    "v1:jvp": _OWN, "v2:jvp": _OWN, "v1:hessian_vector_product": _OWN, "v2:hessian_vector_product": _OWN,
    "v1:jacobian": _HIGHER, "v2:jacobian": _HIGHER, "v1:batch_jacobian": _HIGHER, "v2:batch_jacobian": _HIGHER,
}

# Names whose signature differs from TensorFlow's, as "v1:name" or "v2:name".
SIGNATURES: dict[str, str] = {
    f"{face}:{name}": "with sparse=" for face in ("v1", "v2") for name in ("hessians",)}

# Public functions without a docstring, as "module.function".
DOCSTRINGS: dict[str, str] = {}

# Doctests that are not run, as "module.function".
DOCTESTS: dict[str, str] = {}
