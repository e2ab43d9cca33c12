"""`tf.train` of TensorFlow 1."""

# -- optimizers -----------------------------------------------------------------------
from graphgrad.train.adadelta import AdadeltaOptimizer as AdadeltaOptimizer
from graphgrad.train.adagrad import AdagradOptimizer as AdagradOptimizer
from graphgrad.train.adam import AdamOptimizer as AdamOptimizer
from graphgrad.train.averages import ExponentialMovingAverage as ExponentialMovingAverage
from graphgrad.train.ftrl import FtrlOptimizer as FtrlOptimizer
from graphgrad.train.global_step import assert_global_step as assert_global_step
from graphgrad.train.global_step import create_global_step as create_global_step
from graphgrad.train.global_step import get_global_step as get_global_step
from graphgrad.train.global_step import get_or_create_global_step as get_or_create_global_step
from graphgrad.train.global_step import global_step as global_step
from graphgrad.train.gradient_descent import GradientDescentOptimizer as GradientDescentOptimizer
from graphgrad.train.momentum import MomentumOptimizer as MomentumOptimizer
from graphgrad.train.optimizer import Optimizer as Optimizer
from graphgrad.train.rmsprop import RMSPropOptimizer as RMSPropOptimizer
from graphgrad.train.schedules import cosine_decay as cosine_decay
from graphgrad.train.schedules import cosine_decay_restarts as cosine_decay_restarts
from graphgrad.train.schedules import exponential_decay as exponential_decay
from graphgrad.train.schedules import inverse_time_decay as inverse_time_decay
from graphgrad.train.schedules import linear_cosine_decay as linear_cosine_decay
from graphgrad.train.schedules import natural_exp_decay as natural_exp_decay
from graphgrad.train.schedules import noisy_linear_cosine_decay as noisy_linear_cosine_decay
from graphgrad.train.schedules import piecewise_constant as piecewise_constant
from graphgrad.train.schedules import piecewise_constant as piecewise_constant_decay
from graphgrad.train.schedules import polynomial_decay as polynomial_decay

# -- checkpoints ------------------------------------------------------------------------
from graphgrad.train.checkpoint_init import init_from_checkpoint as init_from_checkpoint
from graphgrad.train.checkpoint_state import checkpoint_exists as checkpoint_exists
from graphgrad.train.checkpoint_state import generate_checkpoint_state_proto as generate_checkpoint_state_proto
from graphgrad.train.checkpoint_state import get_checkpoint_mtimes as get_checkpoint_mtimes
from graphgrad.train.checkpoint_state import get_checkpoint_state as get_checkpoint_state
from graphgrad.train.checkpoint_state import latest_checkpoint as latest_checkpoint
from graphgrad.train.checkpoint_state import list_variables as list_variables
from graphgrad.train.checkpoint_state import load_checkpoint as load_checkpoint
from graphgrad.train.checkpoint_state import load_variable as load_variable
from graphgrad.train.checkpoint_state import new_checkpoint_reader as NewCheckpointReader
from graphgrad.train.checkpoint_state import remove_checkpoint as remove_checkpoint
from graphgrad.train.checkpoint_state import update_checkpoint_state as update_checkpoint_state
from graphgrad.train.saver import Saver as Saver

# -- threads ------------------------------------------------------------------------------
from graphgrad.train.coordinator import Coordinator as Coordinator
from graphgrad.train.coordinator import start_queue_runners as start_queue_runners

# -- event files --------------------------------------------------------------------------
from graphgrad.train.file_writer import FileWriter as SummaryWriter  # the name of 0.x
from graphgrad.train.records import summary_iterator as summary_iterator

# What a name that is missing gets to hear.
from graphgrad.compat.missing import missing_attribute as _missing_attribute

__getattr__ = _missing_attribute(__name__)
