"""`tf.linalg` of TensorFlow 1. Written by `make faces` from exports.txt."""

from graphgrad.compat.lazy import face as _face

__all__, __getattr__, __dir__ = _face(__name__, """
graphgrad.compat.v1.linalg.experimental: experimental=.
graphgrad.extras.linear.blocks: LinearOperatorBlockDiag LinearOperatorBlockLowerTriangular
graphgrad.extras.linear.circulant: LinearOperatorCirculant LinearOperatorCirculant2D LinearOperatorCirculant3D
graphgrad.extras.linear.combined: LinearOperatorAdjoint LinearOperatorComposition LinearOperatorInversion
graphgrad.extras.linear.kronecker: LinearOperatorKronecker
graphgrad.extras.linear.low_rank: LinearOperatorLowRankUpdate
graphgrad.extras.linear.multiples: LinearOperatorIdentity LinearOperatorScaledIdentity LinearOperatorZeros
graphgrad.extras.linear.operator: LinearOperator
graphgrad.extras.linear.simple: LinearOperatorDiag LinearOperatorFullMatrix LinearOperatorLowerTriangular
graphgrad.extras.linear.structured: LinearOperatorHouseholder LinearOperatorPermutation LinearOperatorToeplitz
    LinearOperatorTridiag
graphgrad.ops.array.transpose: matrix_transpose transpose=matrix_transpose
graphgrad.ops.linalg.banded: tridiagonal_matmul tridiagonal_solve
graphgrad.ops.linalg.diag_functions: band_part=matrix_band_part diag=matrix_diag diag_part=matrix_diag_part eye
    set_diag=matrix_set_diag tensor_diag tensor_diag_part
graphgrad.ops.linalg.einsum: einsum
graphgrad.ops.linalg.linalg_functions: adjoint cholesky cholesky_solve det eigh eigvalsh expm inv logdet lstsq
    matrix_rank pinv qr slogdet solve svd trace triangular_solve
graphgrad.ops.linalg.lu: lu lu_matrix_inverse lu_reconstruct lu_solve
graphgrad.ops.linalg.matmul: matmul
graphgrad.ops.linalg.matrix_functions: eigh_tridiagonal logm sqrtm
graphgrad.ops.linalg.norms: norm=norm_v1 normalize
graphgrad.ops.linalg.tensordot: matvec tensordot
graphgrad.ops.math.arithmetic: cross
graphgrad.ops.math.clip: global_norm
graphgrad.ops.nn.norm.moments: l2_normalize
""")
