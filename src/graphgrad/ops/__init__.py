"""The operations, one file a family; importing this package registers them all."""

from . import array as array
from . import broadcast as broadcast
from . import cast as cast
from . import control as control
from . import conv as conv
from . import elementwise as elementwise
from . import filled as filled
from . import gather as gather
from . import join as join
from . import logical as logical
from . import masking as masking
from . import math as math
from . import math_unary as math_unary
from . import matmul as matmul
from . import nn as nn
from . import permute as permute
from . import reduce as reduce
from . import segment as segment
from . import select as select
from . import sequences as sequences
from . import shapes as shapes
from . import slicing as slicing
from . import softmax as softmax
from . import state as state
from . import strided as strided
