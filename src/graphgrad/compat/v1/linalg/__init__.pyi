"""`tf.linalg` of TensorFlow 1. Written by `make faces` from exports.txt."""

from graphgrad.compat.v1.linalg import experimental as experimental
from graphgrad.extras.linear.blocks import LinearOperatorBlockDiag as LinearOperatorBlockDiag
from graphgrad.extras.linear.blocks import LinearOperatorBlockLowerTriangular as LinearOperatorBlockLowerTriangular
from graphgrad.extras.linear.circulant import LinearOperatorCirculant as LinearOperatorCirculant
from graphgrad.extras.linear.circulant import LinearOperatorCirculant2D as LinearOperatorCirculant2D
from graphgrad.extras.linear.circulant import LinearOperatorCirculant3D as LinearOperatorCirculant3D
from graphgrad.extras.linear.combined import LinearOperatorAdjoint as LinearOperatorAdjoint
from graphgrad.extras.linear.combined import LinearOperatorComposition as LinearOperatorComposition
from graphgrad.extras.linear.combined import LinearOperatorInversion as LinearOperatorInversion
from graphgrad.extras.linear.kronecker import LinearOperatorKronecker as LinearOperatorKronecker
from graphgrad.extras.linear.low_rank import LinearOperatorLowRankUpdate as LinearOperatorLowRankUpdate
from graphgrad.extras.linear.multiples import LinearOperatorIdentity as LinearOperatorIdentity
from graphgrad.extras.linear.multiples import LinearOperatorScaledIdentity as LinearOperatorScaledIdentity
from graphgrad.extras.linear.multiples import LinearOperatorZeros as LinearOperatorZeros
from graphgrad.extras.linear.operator import LinearOperator as LinearOperator
from graphgrad.extras.linear.simple import LinearOperatorDiag as LinearOperatorDiag
from graphgrad.extras.linear.simple import LinearOperatorFullMatrix as LinearOperatorFullMatrix
from graphgrad.extras.linear.simple import LinearOperatorLowerTriangular as LinearOperatorLowerTriangular
from graphgrad.extras.linear.structured import LinearOperatorHouseholder as LinearOperatorHouseholder
from graphgrad.extras.linear.structured import LinearOperatorPermutation as LinearOperatorPermutation
from graphgrad.extras.linear.structured import LinearOperatorToeplitz as LinearOperatorToeplitz
from graphgrad.extras.linear.structured import LinearOperatorTridiag as LinearOperatorTridiag
from graphgrad.ops.array.transpose import matrix_transpose as matrix_transpose
from graphgrad.ops.array.transpose import matrix_transpose as transpose
from graphgrad.ops.linalg.banded import tridiagonal_matmul as tridiagonal_matmul
from graphgrad.ops.linalg.banded import tridiagonal_solve as tridiagonal_solve
from graphgrad.ops.linalg.diag_functions import eye as eye
from graphgrad.ops.linalg.diag_functions import matrix_band_part as band_part
from graphgrad.ops.linalg.diag_functions import matrix_diag as diag
from graphgrad.ops.linalg.diag_functions import matrix_diag_part as diag_part
from graphgrad.ops.linalg.diag_functions import matrix_set_diag as set_diag
from graphgrad.ops.linalg.diag_functions import tensor_diag as tensor_diag
from graphgrad.ops.linalg.diag_functions import tensor_diag_part as tensor_diag_part
from graphgrad.ops.linalg.einsum import einsum as einsum
from graphgrad.ops.linalg.linalg_functions import adjoint as adjoint
from graphgrad.ops.linalg.linalg_functions import cholesky as cholesky
from graphgrad.ops.linalg.linalg_functions import cholesky_solve as cholesky_solve
from graphgrad.ops.linalg.linalg_functions import det as det
from graphgrad.ops.linalg.linalg_functions import eigh as eigh
from graphgrad.ops.linalg.linalg_functions import eigvalsh as eigvalsh
from graphgrad.ops.linalg.linalg_functions import expm as expm
from graphgrad.ops.linalg.linalg_functions import inv as inv
from graphgrad.ops.linalg.linalg_functions import logdet as logdet
from graphgrad.ops.linalg.linalg_functions import lstsq as lstsq
from graphgrad.ops.linalg.linalg_functions import matrix_rank as matrix_rank
from graphgrad.ops.linalg.linalg_functions import pinv as pinv
from graphgrad.ops.linalg.linalg_functions import qr as qr
from graphgrad.ops.linalg.linalg_functions import slogdet as slogdet
from graphgrad.ops.linalg.linalg_functions import solve as solve
from graphgrad.ops.linalg.linalg_functions import svd as svd
from graphgrad.ops.linalg.linalg_functions import trace as trace
from graphgrad.ops.linalg.linalg_functions import triangular_solve as triangular_solve
from graphgrad.ops.linalg.lu import lu as lu
from graphgrad.ops.linalg.lu import lu_matrix_inverse as lu_matrix_inverse
from graphgrad.ops.linalg.lu import lu_reconstruct as lu_reconstruct
from graphgrad.ops.linalg.lu import lu_solve as lu_solve
from graphgrad.ops.linalg.matmul import matmul as matmul
from graphgrad.ops.linalg.matrix_functions import eigh_tridiagonal as eigh_tridiagonal
from graphgrad.ops.linalg.matrix_functions import logm as logm
from graphgrad.ops.linalg.matrix_functions import sqrtm as sqrtm
from graphgrad.ops.linalg.norms import norm_v1 as norm
from graphgrad.ops.linalg.norms import normalize as normalize
from graphgrad.ops.linalg.tensordot import matvec as matvec
from graphgrad.ops.linalg.tensordot import tensordot as tensordot
from graphgrad.ops.math.arithmetic import cross as cross
from graphgrad.ops.math.clip import global_norm as global_norm
from graphgrad.ops.nn.norm.moments import l2_normalize as l2_normalize

__all__ = [
    "LinearOperator", "LinearOperatorAdjoint", "LinearOperatorBlockDiag", "LinearOperatorBlockLowerTriangular",
    "LinearOperatorCirculant", "LinearOperatorCirculant2D", "LinearOperatorCirculant3D", "LinearOperatorComposition",
    "LinearOperatorDiag", "LinearOperatorFullMatrix", "LinearOperatorHouseholder", "LinearOperatorIdentity",
    "LinearOperatorInversion", "LinearOperatorKronecker", "LinearOperatorLowRankUpdate",
    "LinearOperatorLowerTriangular", "LinearOperatorPermutation", "LinearOperatorScaledIdentity",
    "LinearOperatorToeplitz", "LinearOperatorTridiag", "LinearOperatorZeros", "adjoint", "band_part", "cholesky",
    "cholesky_solve", "cross", "det", "diag", "diag_part", "eigh", "eigh_tridiagonal", "eigvalsh", "einsum",
    "experimental", "expm", "eye", "global_norm", "inv", "l2_normalize", "logdet", "logm", "lstsq", "lu",
    "lu_matrix_inverse", "lu_reconstruct", "lu_solve", "matmul", "matrix_rank", "matrix_transpose", "matvec", "norm",
    "normalize", "pinv", "qr", "set_diag", "slogdet", "solve", "sqrtm", "svd", "tensor_diag", "tensor_diag_part",
    "tensordot", "trace", "transpose", "triangular_solve", "tridiagonal_matmul", "tridiagonal_solve"
]
