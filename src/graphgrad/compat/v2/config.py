"""`tf.config`."""

from graphgrad.frontend.function import functions_run_eagerly as experimental_functions_run_eagerly
from graphgrad.frontend.function import functions_run_eagerly as functions_run_eagerly
from graphgrad.frontend.function import run_functions_eagerly as experimental_run_functions_eagerly
from graphgrad.frontend.function import run_functions_eagerly as run_functions_eagerly
