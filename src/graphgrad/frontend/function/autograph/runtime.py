"""The names that rewritten code finds under `_ag`."""

from .staged_loops import for_ as for_
from .staged_loops import loop_options as loop_options
from .staged_loops import while_ as while_
from .staged_operators import NO_VALUE as NO_VALUE
from .staged_operators import UNDEFINED as UNDEFINED
from .staged_operators import and_ as and_
from .staged_operators import assert_ as assert_
from .staged_operators import chain as chain
from .staged_operators import converted as converted
from .staged_operators import if_ as if_
from .staged_operators import if_exp as if_exp
from .staged_operators import not_ as not_
from .staged_operators import or_ as or_
from .staged_operators import print_ as print_
from .staged_operators import returned as returned
from .staged_operators import set_attribute as set_attribute
from .staged_operators import value as value
