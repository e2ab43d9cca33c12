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

# What a name that is missing gets to hear.
from graphgrad.compat.missing import missing_attribute as _missing_attribute

__getattr__ = _missing_attribute(__name__)
