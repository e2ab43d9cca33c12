"""The names that rewritten code finds under `_ag`."""

from .loops import for_ as for_
from .loops import loop_options as loop_options
from .loops import while_ as while_
from .operators import NO_VALUE as NO_VALUE
from .operators import UNDEFINED as UNDEFINED
from .operators import and_ as and_
from .operators import assert_ as assert_
from .operators import chain as chain
from .operators import converted as converted
from .operators import if_ as if_
from .operators import if_exp as if_exp
from .operators import not_ as not_
from .operators import or_ as or_
from .operators import print_ as print_
from .operators import returned as returned
from .operators import set_attribute as set_attribute
from .operators import value as value
