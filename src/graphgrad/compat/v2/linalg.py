"""`tf.linalg` of TensorFlow 2."""

# -- arithmetic, reductions ------------------------------------------------------------
from graphgrad.ops.math.clip import global_norm as global_norm
from graphgrad.ops.math.arithmetic import cross as cross

# -- arrays --------------------------------------------------------------------------
from graphgrad.ops.linalg.diag_functions import matrix_band_part as band_part
from graphgrad.ops.linalg.diag_functions import matrix_diag as diag
from graphgrad.frontend.graph.operator_dispatch import matrix_diag_part as diag_part
from graphgrad.ops.linalg.diag_functions import eye as eye
from graphgrad.ops.linalg.diag_functions import matrix_set_diag as set_diag
from graphgrad.ops.linalg.diag_functions import tensor_diag as tensor_diag
from graphgrad.ops.linalg.diag_functions import tensor_diag_part as tensor_diag_part
from graphgrad.ops.array.transpose import matrix_transpose as matrix_transpose

# What a name that is missing gets to hear.
from graphgrad.compat.missing import missing_attribute as _missing_attribute

# Rarely used, so imported when first asked for.
_OPERATORS = {
    "LinearOperator": "graphgrad.extras.linear.operator:LinearOperator",
    "LinearOperatorDiag": "graphgrad.extras.linear.simple:LinearOperatorDiag",
    "LinearOperatorFullMatrix": "graphgrad.extras.linear.simple:LinearOperatorFullMatrix",
    "LinearOperatorLowerTriangular": "graphgrad.extras.linear.simple:LinearOperatorLowerTriangular",
    "LinearOperatorIdentity": "graphgrad.extras.linear.multiples:LinearOperatorIdentity",
    "LinearOperatorScaledIdentity": "graphgrad.extras.linear.multiples:LinearOperatorScaledIdentity",
    "LinearOperatorZeros": "graphgrad.extras.linear.multiples:LinearOperatorZeros",
    "LinearOperatorAdjoint": "graphgrad.extras.linear.combined:LinearOperatorAdjoint",
    "LinearOperatorInversion": "graphgrad.extras.linear.combined:LinearOperatorInversion",
    "LinearOperatorComposition": "graphgrad.extras.linear.combined:LinearOperatorComposition",
    "LinearOperatorKronecker": "graphgrad.extras.linear.kronecker:LinearOperatorKronecker",
    "LinearOperatorLowRankUpdate": "graphgrad.extras.linear.low_rank:LinearOperatorLowRankUpdate",
    "LinearOperatorHouseholder": "graphgrad.extras.linear.structured:LinearOperatorHouseholder",
    "LinearOperatorPermutation": "graphgrad.extras.linear.structured:LinearOperatorPermutation",
    "LinearOperatorToeplitz": "graphgrad.extras.linear.structured:LinearOperatorToeplitz",
    "LinearOperatorTridiag": "graphgrad.extras.linear.structured:LinearOperatorTridiag",
    "LinearOperatorCirculant": "graphgrad.extras.linear.circulant:LinearOperatorCirculant",
    "LinearOperatorCirculant2D": "graphgrad.extras.linear.circulant:LinearOperatorCirculant2D",
    "LinearOperatorCirculant3D": "graphgrad.extras.linear.circulant:LinearOperatorCirculant3D",
    "LinearOperatorBlockDiag": "graphgrad.extras.linear.blocks:LinearOperatorBlockDiag",
    "LinearOperatorBlockLowerTriangular": "graphgrad.extras.linear.blocks:LinearOperatorBlockLowerTriangular",
}

__getattr__ = _missing_attribute(__name__, _OPERATORS)

# -- linear algebra ------------------------------------------------------------
from graphgrad.ops.linalg.einsum import einsum as einsum
from graphgrad.frontend.graph.operator_dispatch import adjoint as adjoint
from graphgrad.frontend.graph.operator_dispatch import cholesky as cholesky
from graphgrad.ops.linalg.linalg_functions import cholesky_solve as cholesky_solve
from graphgrad.frontend.graph.operator_dispatch import det as det
from graphgrad.ops.linalg.linalg_functions import eigh as eigh
from graphgrad.ops.linalg.linalg_functions import eigvalsh as eigvalsh
from graphgrad.ops.linalg.linalg_functions import expm as expm
from graphgrad.frontend.graph.operator_dispatch import inv as inv
from graphgrad.frontend.graph.operator_dispatch import logdet as logdet
from graphgrad.ops.linalg.linalg_functions import lstsq as lstsq
from graphgrad.ops.linalg.linalg_functions import matrix_rank as matrix_rank
from graphgrad.ops.linalg.linalg_functions import norm as norm
from graphgrad.ops.linalg.linalg_functions import normalize as normalize
from graphgrad.ops.linalg.linalg_functions import pinv as pinv
from graphgrad.ops.linalg.linalg_functions import qr as qr
from graphgrad.ops.linalg.linalg_functions import slogdet as slogdet
from graphgrad.frontend.graph.operator_dispatch import solve as solve
from graphgrad.ops.linalg.linalg_functions import svd as svd
from graphgrad.frontend.graph.operator_dispatch import trace as trace
from graphgrad.ops.linalg.linalg_functions import triangular_solve as triangular_solve
from graphgrad.frontend.graph.operator_dispatch import matmul as matmul
from graphgrad.ops.nn.norm.moments import l2_normalize as l2_normalize
from graphgrad.ops.linalg.tensordot import matvec as matvec
from graphgrad.ops.linalg.tensordot import tensordot as tensordot
from graphgrad.ops.linalg.banded import banded_triangular_solve as banded_triangular_solve
from graphgrad.ops.linalg.banded import tridiagonal_matmul as tridiagonal_matmul
from graphgrad.ops.linalg.banded import tridiagonal_solve as tridiagonal_solve
from graphgrad.ops.linalg.matrix_functions import eig as eig
from graphgrad.ops.linalg.matrix_functions import eigh_tridiagonal as eigh_tridiagonal
from graphgrad.ops.linalg.matrix_functions import eigvals as eigvals
from graphgrad.ops.linalg.matrix_functions import logm as logm
from graphgrad.ops.linalg.lu import lu as lu
from graphgrad.ops.linalg.lu import lu_matrix_inverse as lu_matrix_inverse
from graphgrad.ops.linalg.lu import lu_reconstruct as lu_reconstruct
from graphgrad.ops.linalg.lu import lu_solve as lu_solve
from graphgrad.ops.linalg.matrix_functions import sqrtm as sqrtm

# -- operators -----------------------------------------------------------------
from graphgrad.compat.v2 import _linalg_experimental as experimental
