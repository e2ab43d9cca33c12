"""Which module registers which types of operations. Written by `make faces`."""

MODULES = """
graphgrad.extras.distribute.process_ops: ProcessesAllGather ProcessesAllReduce ProcessesBroadcast ProcessesSize
    ProcessesStack
graphgrad.extras.image.bounding_boxes: DrawBoundingBoxes DrawBoundingBoxesV2 SampleDistortedBoundingBox
    SampleDistortedBoundingBoxV2 StatelessSampleDistortedBoundingBox
graphgrad.extras.image.box_proposals: BatchNonMaxSuppression CombinedNonMaxSuppression GenerateBoundingBoxProposals
graphgrad.extras.image.codec_functions: DecodeAndCropJpeg DecodeBmp DecodeGif ExtractJpegShape
graphgrad.extras.image.color_ops: AdjustContrastv2 AdjustHue AdjustSaturation HSVToRGB RGBToHSV
graphgrad.extras.image.crop_and_resize: CropAndResize CropAndResizeGradBoxes CropAndResizeGradImage
graphgrad.extras.image.decode_encode: DecodeImage EncodeJpeg EncodeJpegVariableQuality EncodePng
graphgrad.extras.image.glimpse: ExtractGlimpse ExtractGlimpseGrad ExtractGlimpseV2
graphgrad.extras.image.jpeg_png: DecodeJpeg DecodePng
graphgrad.extras.image.non_max_suppression: NonMaxSuppression NonMaxSuppressionV2 NonMaxSuppressionV3
    NonMaxSuppressionV4 NonMaxSuppressionV5 NonMaxSuppressionWithOverlaps
graphgrad.extras.image.projective: ImageProjectiveTransformGrad ImageProjectiveTransformV2 ImageProjectiveTransformV3
graphgrad.extras.image.resize: ResizeArea ResizeAreaGrad ResizeBicubic ResizeBicubicGrad ResizeBilinear
    ResizeBilinearGrad ResizeNearestNeighbor ResizeNearestNeighborGrad
graphgrad.extras.image.scale_translate: ScaleAndTranslate ScaleAndTranslateGrad
graphgrad.extras.io.csv: DecodeCSV
graphgrad.extras.io.file_ops: ParseSingleExample ReadFile
graphgrad.extras.io.parse_example: ParseExampleV2 ParseSequenceExampleV2
graphgrad.extras.io.record_readers: FixedLengthRecordReaderV2 IdentityReaderV2 MatchingFiles ReaderNumRecordsProducedV2
    ReaderNumWorkUnitsCompletedV2 ReaderReadUpToV2 ReaderReadV2 ReaderResetV2 ReaderRestoreStateV2
    ReaderSerializeStateV2 TFRecordReaderV2 TextLineReaderV2 WholeFileReaderV2
graphgrad.extras.io.serialized: DecodeCompressed DecodeJSONExample DeserializeManySparse SerializeManySparse
    SerializeSparse WriteFile
graphgrad.extras.io.tensor_proto: ParseTensor SerializeTensor
graphgrad.extras.ragged.ragged_ops: RaggedFillEmptyRows RaggedFillEmptyRowsGrad RaggedGather RaggedRange
    RaggedTensorToSparse RaggedTensorToTensor
graphgrad.extras.ragged.ragged_variants: RaggedTensorFromVariant RaggedTensorToVariant RaggedTensorToVariantGradient
    RaggedVariantLike
graphgrad.extras.signal.audio: DecodeWav EncodeWav
graphgrad.extras.signal.fft: FFT FFT2D FFT3D FFTND IFFT IFFT2D IFFT3D IFFTND IRFFT IRFFT2D IRFFT3D IRFFTND RFFT RFFT2D
    RFFT3D RFFTND
graphgrad.extras.sparse.feature_crosses: RaggedCross SparseCross SparseCrossV2
graphgrad.extras.sparse.sets: DenseToDenseSetOperation DenseToSparseSetOperation EditDistance SetSize
    SparseToSparseSetOperation
graphgrad.extras.sparse.sparse_arithmetic: SparseAdd SparseAddGrad SparseConcat SparseDenseCwiseAdd SparseDenseCwiseDiv
    SparseDenseCwiseMul SparseFillEmptyRows SparseFillEmptyRowsGrad SparsePlaces SparseSlice SparseSliceGrad
    SparseSoftmax SparseSplit
graphgrad.extras.sparse.sparse_combine: SparseReduceMaxSparse SparseReduceSumSparse SparseSparseMaximum
    SparseSparseMinimum
graphgrad.extras.sparse.sparse_counts: DenseCountSparseOutput SparseCountSparseOutput
graphgrad.extras.sparse.sparse_ops: SparseReduceMax SparseReduceSum SparseReorder SparseReshape SparseTensorDenseAdd
    SparseTensorDenseMatMul SparseToDense
graphgrad.extras.sparse.sparse_segment: SparseSegmentMean SparseSegmentMeanGrad SparseSegmentMeanWithNumSegments
    SparseSegmentSqrtN SparseSegmentSqrtNGrad SparseSegmentSqrtNWithNumSegments SparseSegmentSum SparseSegmentSumGrad
    SparseSegmentSumWithNumSegments
graphgrad.extras.strings.hashing: Fingerprint StringToHashBucket StringToHashBucketFast StringToHashBucketStrong
graphgrad.extras.strings.regex: RegexFullMatch RegexReplace StaticRegexFullMatch StaticRegexReplace
graphgrad.extras.strings.string_ops: AsString DecodeBase64 DecodePaddedRaw DecodeRaw EncodeBase64 ReduceJoin StringJoin
    StringLength StringLower StringSplit StringSplitV2 StringStrip StringToNumber StringUpper Substr UnsortedSegmentJoin
graphgrad.extras.strings.unicode: StringNGrams UnicodeDecode UnicodeDecodeWithOffsets UnicodeEncode UnicodeScript
    UnicodeTranscode
graphgrad.ops.array.broadcast_to: BroadcastArgs BroadcastTo
graphgrad.ops.array.cast: Cast
graphgrad.ops.array.concat_stack: Concat ConcatOffset ConcatV2 Pack Unpack
graphgrad.ops.array.constant: CheckNumerics CheckNumericsV2 Const DeepCopy EnsureShape GuaranteeConst Identity IdentityN
    Materialized Placeholder PlaceholderWithDefault PreventGradient Snapshot StopGradient
graphgrad.ops.array.fill: Empty Fill OnesLike ZerosLike
graphgrad.ops.array.gather: Gather GatherNd GatherV2
graphgrad.ops.array.mask: Where
graphgrad.ops.array.mesh_annotation: XlaSharding
graphgrad.ops.array.pad: MirrorPad MirrorPadGrad Pad PadV2
graphgrad.ops.array.partition_stitch: DynamicPartition DynamicStitch ListDiff ParallelDynamicStitch Unique UniqueV2
    UniqueWithCounts UniqueWithCountsV2
graphgrad.ops.array.ranges: LinSpace Range
graphgrad.ops.array.reshape: ExpandDims Rank Reshape Shape ShapeN Size Squeeze
graphgrad.ops.array.scatter: OneHot ScatterNd ScatterNdNonAliasingAdd TensorScatterAdd TensorScatterMax TensorScatterMin
    TensorScatterSub TensorScatterUpdate
graphgrad.ops.array.select: Select SelectV2
graphgrad.ops.array.slice: AxisSlice Slice
graphgrad.ops.array.sort_search: Bitcast Bucketize LowerBound UnravelIndex UpperBound
graphgrad.ops.array.space_to_batch: BatchToSpace BatchToSpaceND DepthToSpace SpaceToBatch SpaceToBatchND SpaceToDepth
graphgrad.ops.array.split: Split SplitV
graphgrad.ops.array.strided_slice: StridedSlice StridedSliceGrad TensorStridedSliceUpdate
graphgrad.ops.array.tile: Tile
graphgrad.ops.array.transpose: ConjugateTranspose InvertPermutation Reverse ReverseSequence ReverseV2 Roll Transpose
graphgrad.ops.array.xla_slice: XlaDynamicSlice XlaDynamicUpdateSlice
graphgrad.ops.common.broadcast: BroadcastGradientArgs
graphgrad.ops.control.assertions: Assert
graphgrad.ops.control.group: ControlTrigger NoOp
graphgrad.ops.control.if_while: If LoopBound LoopSegments VectorizedMap While
graphgrad.ops.control.py_func: EagerPyFunc Print PrintV2 PyFunc PyFuncStateless StringFormat Timestamp
graphgrad.ops.control.tensor_list_concat: TensorListConcat TensorListScatter
graphgrad.ops.control.tensor_list_ops: EmptyTensorList TensorListConcatV2 TensorListElementShape TensorListFromTensor
    TensorListGather TensorListGetItem TensorListLength TensorListPopBack TensorListPushBack TensorListReserve
    TensorListResize TensorListScatterIntoExistingList TensorListScatterV2 TensorListSetItem TensorListSplit
    TensorListStack
graphgrad.ops.linalg.banded: BandedTriangularSolve TridiagonalMatMul TridiagonalSolve
graphgrad.ops.linalg.decompositions: Cholesky LogMatrixDeterminant MatrixDeterminant MatrixInverse MatrixSolve
    MatrixTriangularSolve SelfAdjointEigV2 Svd
graphgrad.ops.linalg.diag: Diag DiagPart MatrixBandPart MatrixDiag MatrixDiagPart MatrixDiagPartV2 MatrixDiagPartV3
    MatrixDiagV2 MatrixDiagV3 MatrixSetDiag MatrixSetDiagV2 MatrixSetDiagV3
graphgrad.ops.linalg.einsum: Einsum
graphgrad.ops.linalg.lu: Lu
graphgrad.ops.linalg.matmul: BatchMatMul BatchMatMulV2 BatchMatMulV3 MatMul MatMulSum SparseMatMul
graphgrad.ops.linalg.matrix_functions: Eig MatrixLogarithm MatrixSolveLs MatrixSquareRoot
graphgrad.ops.linalg.qr: Qr
graphgrad.ops.linalg.solutions: Converged LinearSolve
graphgrad.ops.math.argmax: ArgMax ArgMin
graphgrad.ops.math.arithmetic: AccumulateNV2 Add AddN AddV2 Cross Maximum Minimum Mul MulNoNan SquaredDifference Sub
graphgrad.ops.math.bessel: BesselI0 BesselI0e BesselI1 BesselI1e BesselJ0 BesselJ1 BesselK0 BesselK0e BesselK1 BesselK1e
    BesselY0 BesselY1
graphgrad.ops.math.bincount: Bincount DenseBincount RaggedBincount
graphgrad.ops.math.bitwise: BitwiseAnd BitwiseOr BitwiseXor Invert LeftShift PopulationCount RightShift
graphgrad.ops.math.clip: ClipByValue
graphgrad.ops.math.comparison: ApproximateEqual Equal Greater GreaterEqual IsFinite IsInf IsNan Less LessEqual
    LogicalAnd LogicalNot LogicalOr NotEqual
graphgrad.ops.math.complex: Angle Complex ComplexAbs Conj Imag Real
graphgrad.ops.math.cumulative: Cumprod Cumsum CumulativeLogsumexp LinearRecurrence
graphgrad.ops.math.division: Div DivNoNan FloorDiv FloorMod Mod RealDiv TruncateDiv TruncateMod
graphgrad.ops.math.exponential: Exp Expm1 Log Log1p Pow Xdivy Xlog1py Xlogy
graphgrad.ops.math.histogram: HistogramFixedWidth
graphgrad.ops.math.order_statistics: ApproxTopK InTopK IsotonicRegression NthElement TopK
graphgrad.ops.math.reduce: All Any EuclideanNorm Max Mean Min Prod Sum
graphgrad.ops.math.segment: SegmentMax SegmentMean SegmentMin SegmentProd SegmentSum UnsortedSegmentMax
    UnsortedSegmentMin UnsortedSegmentProd UnsortedSegmentSum
graphgrad.ops.math.special: Betainc Digamma Erf Erfc Erfinv Igamma IgammaGradA Igammac Lgamma Ndtri Polygamma Zeta
graphgrad.ops.math.special_integrals: Dawsn Expint FresnelCos FresnelSin Spence
graphgrad.ops.math.special_parameter_gradients: BetaincDerivative IgammaDerivative ZetaDerivative
graphgrad.ops.math.topk: InTopKV2 TopKV2
graphgrad.ops.math.trig: Acos Acosh Asin Asinh Atan Atan2 Atanh Cos Cosh Sigmoid SigmoidGrad Sin Sinh Tan Tanh TanhGrad
graphgrad.ops.math.unary: Abs Ceil Floor Inv InvGrad Neg NextAfter Reciprocal ReciprocalGrad Rint Round Rsqrt RsqrtGrad
    Sign Sqrt SqrtGrad Square
graphgrad.ops.nn.activations: Elu EluGrad LeakyRelu LeakyReluGrad Relu Relu6 Relu6Grad ReluGrad Selu SeluGrad Softplus
    SoftplusGrad Softsign SoftsignGrad
graphgrad.ops.nn.bias: BiasAdd BiasAddGrad BiasAddV1
graphgrad.ops.nn.candidate_samplers: AllCandidateSampler FixedUnigramCandidateSampler LearnedUnigramCandidateSampler
graphgrad.ops.nn.conv.conv_ops: Conv2D Conv2DBackpropFilter Conv2DBackpropInput Conv3D Conv3DBackpropFilterV2
    Conv3DBackpropInputV2
graphgrad.ops.nn.conv.depthwise: DepthwiseConv2dNative DepthwiseConv2dNativeBackpropFilter
    DepthwiseConv2dNativeBackpropInput
graphgrad.ops.nn.conv.morphology: Dilation2D Dilation2DBackpropFilter Dilation2DBackpropFilterGrad
    Dilation2DBackpropInput Dilation2DBackpropInputGrad
graphgrad.ops.nn.conv.patches: ExtractImagePatches ExtractVolumePatches
graphgrad.ops.nn.cross_entropy: L2Loss SoftmaxCrossEntropyWithLogits SparseSoftmaxCrossEntropyWithLogits
graphgrad.ops.nn.ctc.ctc_decode: CTCBeamSearchDecoder CTCGreedyDecoder
graphgrad.ops.nn.ctc.ctc_functions: CTCUniqueLabels CollapseRepeated
graphgrad.ops.nn.ctc.ctc_loss: CTCLoss CTCLossDense CTCLossDenseStates CTCLossStates CTCLossV2
graphgrad.ops.nn.cudnn_rnn: CudnnRNNV3
graphgrad.ops.nn.norm.batchnorm: FusedBatchNormGradV3 FusedBatchNormV3
graphgrad.ops.nn.norm.batchnorm_legacy: BatchNormWithGlobalNormalization BatchNormWithGlobalNormalizationGrad
    FusedBatchNorm FusedBatchNormGrad FusedBatchNormGradV2 FusedBatchNormV2
graphgrad.ops.nn.norm.lrn: LRN LRNGrad
graphgrad.ops.nn.pool.fractional_pool: FractionalAvgPool FractionalAvgPoolGrad FractionalAvgPoolGradGrad
    FractionalMaxPool FractionalMaxPoolGrad FractionalMaxPoolGradGrad
graphgrad.ops.nn.pool.max_pool_with_argmax: MaxPoolGradGradWithArgmax MaxPoolGradWithArgmax MaxPoolWithArgmax
graphgrad.ops.nn.pool.pool_dynamic_size: MaxPoolGradGradV2 MaxPoolGradV2 MaxPoolV2
graphgrad.ops.nn.pool.pool_ops: AvgPool AvgPool3D AvgPool3DGrad AvgPoolGrad MaxPool MaxPool3D MaxPool3DGrad
    MaxPool3DGradGrad MaxPoolGrad MaxPoolGradGrad
graphgrad.ops.nn.quantize.fake_quantize: FakeQuantWithMinMaxArgs FakeQuantWithMinMaxArgsGradient FakeQuantWithMinMaxVars
    FakeQuantWithMinMaxVarsGradient FakeQuantWithMinMaxVarsPerChannel FakeQuantWithMinMaxVarsPerChannelGradient
    QuantizeAndDequantize QuantizeAndDequantizeV2 QuantizeAndDequantizeV3 QuantizeAndDequantizeV4
    QuantizeAndDequantizeV4Grad
graphgrad.ops.nn.rnn: BlockLSTM BlockLSTMGrad BlockLSTMGradV2 BlockLSTMV2 GRUBlockCell LSTMBlockCell
graphgrad.ops.nn.sampled_losses: ComputeAccidentalHits LogUniformCandidateSampler UniformCandidateSampler
graphgrad.ops.nn.softmax: LogSoftmax Softmax
graphgrad.ops.random.gamma_poisson: RandomGamma RandomGammaGrad RandomPoisson RandomPoissonV2 StatelessRandomGammaV2
    StatelessRandomPoisson
graphgrad.ops.random.generator_state: NonDeterministicInts RngReadAndSkip RngSkip StatefulRandomBinomial
    StatefulStandardNormalV2 StatefulTruncatedNormal StatefulUniform StatefulUniformFullInt StatefulUniformInt
graphgrad.ops.random.random: Multinomial RandomShuffle RandomStandardNormal RandomUniform RandomUniformInt
    TruncatedNormal
graphgrad.ops.random.sobol: SobolSample
graphgrad.ops.random.stateless: StatelessMultinomial StatelessRandomGetAlg StatelessRandomGetKeyCounter
    StatelessRandomGetKeyCounterAlg StatelessRandomNormal StatelessRandomNormalV2 StatelessRandomUniform
    StatelessRandomUniformFullInt StatelessRandomUniformFullIntV2 StatelessRandomUniformInt StatelessRandomUniformIntV2
    StatelessRandomUniformV2 StatelessTruncatedNormal StatelessTruncatedNormalV2
graphgrad.ops.random.stateless_functions: ParameterizedTruncatedNormal RandomIndexShuffle
    StatelessParameterizedTruncatedNormal StatelessRandomBinomial StatelessRandomGammaV3 StatelessShuffle
graphgrad.ops.state.dataset_passes: DatasetHas DatasetHasActing DatasetItem DatasetItemActing DatasetPass DatasetTake
    OwnedIteratorGetNext OwnedIteratorGetNextAsOptional OwnedIteratorHas
graphgrad.ops.state.iterator_ops: DatasetResult DatasetVariant IteratorGetNext IteratorGetNextAsOptional
    IteratorGetNextFromString IteratorGoTo IteratorPlace IteratorToStringHandle MakeIterator
graphgrad.ops.state.optimizer_updates: ResourceApplyAdadelta ResourceApplyAdagrad ResourceApplyAdam
    ResourceApplyCenteredRMSProp ResourceApplyFtrl ResourceApplyFtrlV2 ResourceApplyGradientDescent
    ResourceApplyMomentum ResourceApplyRMSProp ResourceSparseApplyAdadelta ResourceSparseApplyAdagrad
    ResourceSparseApplyCenteredRMSProp ResourceSparseApplyFtrl ResourceSparseApplyFtrlV2 ResourceSparseApplyMomentum
    ResourceSparseApplyRMSProp
graphgrad.ops.state.optimizer_updates_proximal: ResourceApplyAdagradDA ResourceApplyProximalAdagrad
    ResourceApplyProximalGradientDescent ResourceSparseApplyAdagradDA ResourceSparseApplyProximalAdagrad
    ResourceSparseApplyProximalGradientDescent
graphgrad.ops.state.optimizer_updates_variants: ResourceApplyAdaMax ResourceApplyAdagradV2 ResourceApplyAdamWithAmsgrad
    ResourceApplyKerasMomentum ResourceSparseApplyAdagradV2 ResourceSparseApplyKerasMomentum
graphgrad.ops.state.optional_ops: OptionalFromValue OptionalGetValue OptionalHasValue OptionalNone
graphgrad.ops.state.queue_ops: FIFOQueueV2 PaddingFIFOQueueV2 PriorityQueueV2 QueueCloseV2 QueueDequeueManyV2
    QueueDequeueUpToV2 QueueDequeueV2 QueueEnqueueManyV2 QueueEnqueueV2 QueueIsClosedV2 QueueSizeV2 RandomShuffleQueueV2
graphgrad.ops.state.session_tensors: DeleteSessionTensor GetSessionHandle GetSessionTensor
graphgrad.ops.state.table_ops: InitializeTableFromTextFileV2 InitializeTableV2 LookupTableExportV2 LookupTableFindV2
    LookupTableImportV2 LookupTableInsertV2 LookupTableRemoveV2 LookupTableSizeV2
graphgrad.ops.state.variable_ops: AssignAddVariableOp AssignSubVariableOp AssignVariableOp ReadVariableOp ResourceGather
    ResourceScatterAdd ResourceScatterDiv ResourceScatterMax ResourceScatterMin ResourceScatterMul ResourceScatterSub
    ResourceScatterUpdate VarHandleOp VarIsInitializedOp VariableOf VariableShape
graphgrad.ops.state.variable_slices: ResourceCountUpTo ResourceGatherNd ResourceScatterNdAdd ResourceScatterNdMax
    ResourceScatterNdMin ResourceScatterNdSub ResourceScatterNdUpdate ResourceStridedSliceAssign
graphgrad.training.checkpoints.checkpoint_ops: DisableCopyOnRead MergeV2Checkpoints RestoreV2 SaveV2 ShardedFilename
graphgrad.training.summaries.summary_ops: HistogramSummary ImageSummary MergeSummary ScalarSummary TensorSummaryV2
graphgrad.training.summaries.writer_ops: AudioSummary AudioSummaryV2 CloseSummaryWriter FlushSummaryWriter TensorSummary
    WriteSummary
"""
