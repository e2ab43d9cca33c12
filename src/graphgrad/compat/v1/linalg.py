"""`tf.linalg` of TensorFlow 1."""

# -- arithmetic, reductions ------------------------------------------------------------
from graphgrad.ops.clip import global_norm as global_norm
from graphgrad.ops.math import cross as cross

# -- arrays --------------------------------------------------------------------------
from graphgrad.ops.matrices import matrix_band_part as band_part
from graphgrad.ops.matrices import matrix_diag as diag
from graphgrad.frontend.operator_functions import matrix_diag_part as diag_part
from graphgrad.ops.matrices import eye as eye
from graphgrad.ops.matrices import matrix_set_diag as set_diag
from graphgrad.ops.matrices import tensor_diag as tensor_diag
from graphgrad.ops.matrices import tensor_diag_part as tensor_diag_part
from graphgrad.ops.permute import matrix_transpose as matrix_transpose
from graphgrad.ops.permute import matrix_transpose as transpose

# What a name that is missing gets to hear.
from graphgrad.compat.missing import missing_attribute as _missing_attribute

# Rarely used, so imported when first asked for.
_OPERATORS = {
    "LinearOperator": "graphgrad.frontend.linear.operator:LinearOperator",
    "LinearOperatorDiag": "graphgrad.frontend.linear.simple:LinearOperatorDiag",
    "LinearOperatorFullMatrix": "graphgrad.frontend.linear.simple:LinearOperatorFullMatrix",
    "LinearOperatorLowerTriangular": "graphgrad.frontend.linear.simple:LinearOperatorLowerTriangular",
    "LinearOperatorIdentity": "graphgrad.frontend.linear.multiples:LinearOperatorIdentity",
    "LinearOperatorScaledIdentity": "graphgrad.frontend.linear.multiples:LinearOperatorScaledIdentity",
    "LinearOperatorZeros": "graphgrad.frontend.linear.multiples:LinearOperatorZeros",
    "LinearOperatorAdjoint": "graphgrad.frontend.linear.combined:LinearOperatorAdjoint",
    "LinearOperatorInversion": "graphgrad.frontend.linear.combined:LinearOperatorInversion",
    "LinearOperatorComposition": "graphgrad.frontend.linear.combined:LinearOperatorComposition",
    "LinearOperatorKronecker": "graphgrad.frontend.linear.kronecker:LinearOperatorKronecker",
    "LinearOperatorLowRankUpdate": "graphgrad.frontend.linear.low_rank:LinearOperatorLowRankUpdate",
    "LinearOperatorHouseholder": "graphgrad.frontend.linear.structured:LinearOperatorHouseholder",
    "LinearOperatorPermutation": "graphgrad.frontend.linear.structured:LinearOperatorPermutation",
    "LinearOperatorToeplitz": "graphgrad.frontend.linear.structured:LinearOperatorToeplitz",
    "LinearOperatorTridiag": "graphgrad.frontend.linear.structured:LinearOperatorTridiag",
    "LinearOperatorCirculant": "graphgrad.frontend.linear.circulant:LinearOperatorCirculant",
    "LinearOperatorCirculant2D": "graphgrad.frontend.linear.circulant:LinearOperatorCirculant2D",
    "LinearOperatorCirculant3D": "graphgrad.frontend.linear.circulant:LinearOperatorCirculant3D",
    "LinearOperatorBlockDiag": "graphgrad.frontend.linear.blocks:LinearOperatorBlockDiag",
    "LinearOperatorBlockLowerTriangular": "graphgrad.frontend.linear.blocks:LinearOperatorBlockLowerTriangular",
}

__getattr__ = _missing_attribute(__name__, _OPERATORS)

# -- linear algebra ------------------------------------------------------------
from graphgrad.ops.einsum import einsum as einsum
from graphgrad.frontend.operator_functions import adjoint as adjoint
from graphgrad.frontend.operator_functions import cholesky as cholesky
from graphgrad.ops.linalg_functions import cholesky_solve as cholesky_solve
from graphgrad.frontend.operator_functions import det as det
from graphgrad.ops.linalg_functions import eigh as eigh
from graphgrad.ops.linalg_functions import eigvalsh as eigvalsh
from graphgrad.ops.linalg_functions import expm as expm
from graphgrad.frontend.operator_functions import inv as inv
from graphgrad.frontend.operator_functions import logdet as logdet
from graphgrad.ops.linalg_functions import lstsq as lstsq
from graphgrad.ops.linalg_functions import matrix_rank as matrix_rank
from graphgrad.ops.linalg_functions import norm_v1 as norm
from graphgrad.ops.linalg_functions import normalize as normalize
from graphgrad.ops.linalg_functions import pinv as pinv
from graphgrad.ops.linalg_functions import qr as qr
from graphgrad.ops.linalg_functions import slogdet as slogdet
from graphgrad.frontend.operator_functions import solve as solve
from graphgrad.ops.linalg_functions import svd as svd
from graphgrad.frontend.operator_functions import trace as trace
from graphgrad.ops.linalg_functions import triangular_solve as triangular_solve
from graphgrad.frontend.operator_functions import matmul as matmul
from graphgrad.ops.moments import l2_normalize as l2_normalize
from graphgrad.ops.tensordot import matvec as matvec
from graphgrad.ops.tensordot import tensordot as tensordot
from graphgrad.ops.banded import tridiagonal_matmul as tridiagonal_matmul
from graphgrad.ops.banded import tridiagonal_solve as tridiagonal_solve
from graphgrad.ops.matrix_functions import eigh_tridiagonal as eigh_tridiagonal
from graphgrad.ops.matrix_functions import logm as logm
from graphgrad.ops.lu import lu as lu
from graphgrad.ops.lu import lu_matrix_inverse as lu_matrix_inverse
from graphgrad.ops.lu import lu_reconstruct as lu_reconstruct
from graphgrad.ops.lu import lu_solve as lu_solve
from graphgrad.ops.matrix_functions import sqrtm as sqrtm

# -- operators -----------------------------------------------------------------
from . import _linalg_experimental as experimental
