"""`tf.train` of TensorFlow 1."""

# -- optimizers -----------------------------------------------------------------------
from graphgrad.train.adam import AdamOptimizer as AdamOptimizer
from graphgrad.train.global_step import assert_global_step as assert_global_step
from graphgrad.train.global_step import create_global_step as create_global_step
from graphgrad.train.global_step import get_global_step as get_global_step
from graphgrad.train.global_step import get_or_create_global_step as get_or_create_global_step
from graphgrad.train.global_step import global_step as global_step
from graphgrad.train.gradient_descent import GradientDescentOptimizer as GradientDescentOptimizer
from graphgrad.train.momentum import MomentumOptimizer as MomentumOptimizer
from graphgrad.train.optimizer import Optimizer as Optimizer
