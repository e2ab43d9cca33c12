from graphgrad import compat as compat
from graphgrad.compat.v2 import *
