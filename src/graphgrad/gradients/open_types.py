"""Op types that have a gradient here and none in TensorFlow, so that programs may register their own."""

OPEN = frozenset("""
    AdjustContrastv2 AdjustHue AdjustSaturation All AllCandidateSampler Any BatchNonMaxSuppression
    BatchNormWithGlobalNormalizationGrad BetaincDerivative Bincount BlockLSTMGrad BlockLSTMGradV2 BroadcastArgs
    CTCLossDense CTCLossDenseStates CTCLossStates CTCUniqueLabels CollapseRepeated CombinedNonMaxSuppression
    ComputeAccidentalHits ControlTrigger CropAndResizeGradBoxes CropAndResizeGradImage DatasetHas DatasetItem
    DatasetPass DatasetResult DatasetTake DatasetVariant DecodeAndCropJpeg DecodeBmp DecodeCSV DecodeCompressed
    DecodeGif DecodeImage DecodeJSONExample DecodeJpeg DecodePng DecodeWav DenseBincount DenseCountSparseOutput
    DeserializeManySparse Dilation2DBackpropFilter Dilation2DBackpropFilterGrad Dilation2DBackpropInput
    Dilation2DBackpropInputGrad Empty EmptyTensorList EncodeJpeg EncodeJpegVariableQuality EncodePng EncodeWav
    ExtractGlimpseGrad ExtractGlimpseV2 ExtractJpegShape FFTND Fingerprint FixedUnigramCandidateSampler
    FractionalAvgPoolGrad FractionalAvgPoolGradGrad FractionalMaxPoolGrad FractionalMaxPoolGradGrad GRUBlockCell
    GuaranteeConst HistogramFixedWidth IFFTND IRFFT3D IRFFTND IgammaDerivative IgammaGradA
    ImageProjectiveTransformGrad IsFinite IsInf IsNan IteratorGetNext IteratorGetNextAsOptional
    IteratorGetNextFromString IteratorToStringHandle LRNGrad LSTMBlockCell LearnedUnigramCandidateSampler
    LinearRecurrence LogUniformCandidateSampler LoopBound LoopSegments LowerBound Lu MatchingFiles
    MatrixLogarithm MaxPoolGradGradV2 MaxPoolGradGradWithArgmax MaxPoolGradWithArgmax Mod NoOp
    NonDeterministicInts OptionalHasValue OptionalNone OwnedIteratorGetNext OwnedIteratorHas ParseExampleV2
    ParseSequenceExampleV2 ParseSingleExample PrintV2 QueueCloseV2 QueueDequeueManyV2 QueueDequeueUpToV2
    QueueDequeueV2 QueueEnqueueManyV2 QueueEnqueueV2 QueueIsClosedV2 QueueSizeV2 RFFT3D RFFTND RaggedCross
    RaggedFillEmptyRowsGrad RaggedTensorToVariantGradient RaggedVariantLike RandomGammaGrad RandomUniformInt
    ReadFile ReaderNumRecordsProducedV2 ReaderNumWorkUnitsCompletedV2 ReaderReadUpToV2 ReaderReadV2
    ReaderResetV2 ReaderRestoreStateV2 ReaderSerializeStateV2 ResizeArea ResizeAreaGrad ResizeBicubicGrad
    ResizeNearestNeighborGrad RngReadAndSkip RngSkip ScaleAndTranslateGrad SerializeManySparse SerializeSparse
    Snapshot SobolSample SoftsignGrad SparseCountSparseOutput SparseCross SparseCrossV2 SparseFillEmptyRowsGrad
    SparsePlaces SparseReduceMax SparseReduceMaxSparse SparseReduceSumSparse SparseReshape SparseSegmentMeanGrad
    SparseSegmentSqrtNGrad SparseSegmentSumGrad SparseSliceGrad SparseSplit StatefulRandomBinomial
    StatefulStandardNormalV2 StatefulTruncatedNormal StatefulUniform StatefulUniformFullInt StatefulUniformInt
    StatelessRandomGetAlg StatelessRandomGetKeyCounter StatelessRandomGetKeyCounterAlg StatelessShuffle
    StaticRegexFullMatch StaticRegexReplace StringFormat StringLength StringLower StringNGrams StringSplitV2
    StringStrip StringUpper Substr TensorListReserve TruncateMod UnicodeDecode UnicodeDecodeWithOffsets
    UnicodeEncode UnicodeScript UnicodeTranscode UniformCandidateSampler UnravelIndex UnsortedSegmentJoin
    UpperBound VectorizedMap Where WriteFile WriteSummary ZetaDerivative
""".split())  # fmt: skip
