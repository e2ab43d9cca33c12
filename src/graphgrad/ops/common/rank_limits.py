"""Ranks that shape rules require of sizes, axes and counts.

Their rules see them as numbers or tuples, so the rank is checked before. Each entry is `OpType.input`.
"""

from __future__ import annotations

from graphgrad.ir.opdef import registry

_SCALARS = """
ArgMax.dimension ArgMin.dimension BatchNonMaxSuppression.max_output_size Bincount.size
CombinedNonMaxSuppression.max_output_size_per_class CombinedNonMaxSuppression.max_total_size Cumprod.axis Cumsum.axis
CumulativeLogsumexp.axis DecodePaddedRaw.fixed_length DenseBincount.size HistogramFixedWidth.nbins LinSpace.start
LinSpace.stop LinSpace.num NonMaxSuppression.max_output_size NonMaxSuppressionV2.max_output_size
NonMaxSuppressionV2.iou_threshold NonMaxSuppressionV3.max_output_size NonMaxSuppressionV3.iou_threshold
NonMaxSuppressionV3.score_threshold NonMaxSuppressionV4.max_output_size NonMaxSuppressionV4.iou_threshold
NonMaxSuppressionV4.score_threshold NonMaxSuppressionV5.max_output_size NonMaxSuppressionV5.iou_threshold
NonMaxSuppressionV5.score_threshold NonMaxSuppressionWithOverlaps.max_output_size
NonMaxSuppressionWithOverlaps.overlap_threshold NonMaxSuppressionWithOverlaps.score_threshold Range.start Range.limit
Range.delta SparseSegmentMeanGrad.output_dim0 SparseSegmentMeanWithNumSegments.num_segments
SparseSegmentSqrtNGrad.output_dim0 SparseSegmentSqrtNWithNumSegments.num_segments SparseSegmentSumGrad.output_dim0
SparseSegmentSumWithNumSegments.num_segments TopKV2.k UnsortedSegmentMax.num_segments UnsortedSegmentMin.num_segments
UnsortedSegmentProd.num_segments UnsortedSegmentSum.num_segments
"""

_VECTORS = """
AvgPool3DGrad.orig_input_shape AvgPoolGrad.orig_input_shape BatchToSpaceND.block_shape BroadcastArgs.s0
BroadcastArgs.s1 BroadcastGradientArgs.s0 BroadcastGradientArgs.s1 BroadcastTo.shape ConcatOffset.shape
ConjugateTranspose.perm Conv2DBackpropFilter.filter_sizes Conv2DBackpropInput.input_sizes
Conv3DBackpropFilterV2.filter_sizes Conv3DBackpropInputV2.input_sizes CropAndResize.crop_size
CropAndResizeGradImage.image_size DepthwiseConv2dNativeBackpropFilter.filter_sizes
DepthwiseConv2dNativeBackpropInput.input_sizes EditDistance.hypothesis_shape EditDistance.truth_shape Empty.shape
ExtractGlimpse.size ExtractGlimpseGrad.input_sizes ExtractGlimpseV2.size FFTND.axes Fill.dims
FractionalAvgPoolGrad.orig_input_tensor_shape IFFTND.axes IRFFT.fft_length IRFFTND.axes IRFFTND.fft_length
ImageProjectiveTransformGrad.image_shape ImageProjectiveTransformV2.output_shape
ImageProjectiveTransformV3.output_shape MaxPoolV2.ksize MaxPoolV2.strides RFFT.fft_length RFFTND.axes
RFFTND.fft_length RandomGamma.shape RandomPoissonV2.shape RandomStandardNormal.shape RandomUniform.shape
RandomUniformInt.shape ResizeArea.size ResizeBicubic.size ResizeBilinear.size ResizeNearestNeighbor.size
ResizeNearestNeighborGrad.size Reverse.dims ReverseV2.axis ScaleAndTranslate.size ScatterNd.shape Slice.begin
Slice.size SpaceToBatchND.block_shape SparseAdd.a_shape SparseConcat.shapes SparseDenseCwiseAdd.sp_shape
SparseDenseCwiseDiv.sp_shape SparseDenseCwiseMul.sp_shape SparseReduceMax.input_shape SparseReduceSum.input_shape
SparseReorder.input_shape SparseReshape.input_shape SparseReshape.new_shape SparseSoftmax.sp_shape
SparseTensorDenseAdd.a_shape SparseTensorDenseMatMul.a_shape SparseToDense.output_shape SplitV.size_splits
StatelessParameterizedTruncatedNormal.shape StatelessRandomBinomial.shape StatelessRandomGammaV2.shape
StatelessRandomGammaV3.shape StatelessRandomNormal.shape StatelessRandomNormalV2.shape StatelessRandomPoisson.shape
StatelessRandomUniform.shape StatelessRandomUniformFullInt.shape StatelessRandomUniformFullIntV2.shape
StatelessRandomUniformInt.shape StatelessRandomUniformIntV2.shape StatelessRandomUniformV2.shape
StatelessTruncatedNormal.shape StatelessTruncatedNormalV2.shape StridedSlice.begin StridedSlice.end
StridedSlice.strides StridedSliceGrad.shape TensorStridedSliceUpdate.begin TensorStridedSliceUpdate.end
TensorStridedSliceUpdate.strides Tile.multiples Transpose.perm TruncatedNormal.shape UnravelIndex.dims
"""

_MATRICES = """
BatchToSpace.crops BatchToSpaceND.crops MirrorPad.paddings MirrorPadGrad.paddings Pad.paddings PadV2.paddings
SpaceToBatch.paddings SpaceToBatchND.paddings SparseCountSparseOutput.indices
"""

_AT_MOST_VECTORS = """
All.reduction_indices Any.reduction_indices EuclideanNorm.reduction_indices MatrixDiagPartV2.k MatrixDiagPartV3.k
MatrixDiagV2.k MatrixDiagV3.k MatrixSetDiagV2.k MatrixSetDiagV3.k Max.reduction_indices Mean.reduction_indices
Min.reduction_indices Prod.reduction_indices RaggedTensorToTensor.shape ReduceJoin.reduction_indices Roll.axis
SparseReduceMax.reduction_axes SparseReduceSum.reduction_axes Sum.reduction_indices
"""


def declare() -> None:
    """Tells the records."""
    for text, allowed in ((_SCALARS, (0, 0)), (_VECTORS, (1, 1)), (_MATRICES, (2, 2)), (_AT_MOST_VECTORS, (0, 1))):
        for entry in text.split():
            op_type, _, name = entry.partition(".")
            registry[op_type].limit_rank(name, *allowed)
