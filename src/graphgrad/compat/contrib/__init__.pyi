"""`tf.contrib` of TensorFlow 1.15. Written by `make faces` from exports.txt."""

from graphgrad.compat.contrib import data as data
from graphgrad.compat.contrib import distributions as distributions
from graphgrad.compat.contrib import eager as eager
from graphgrad.compat.contrib import framework as framework
from graphgrad.compat.contrib import graph_editor as graph_editor
from graphgrad.compat.contrib import image as image
from graphgrad.compat.contrib import integrate as integrate
from graphgrad.compat.contrib import layers as layers
from graphgrad.compat.contrib import legacy_seq2seq as legacy_seq2seq
from graphgrad.compat.contrib import lookup as lookup
from graphgrad.compat.contrib import memory_stats as memory_stats
from graphgrad.compat.contrib import metrics as metrics
from graphgrad.compat.contrib import nn as nn
from graphgrad.compat.contrib import opt as opt
from graphgrad.compat.contrib import rnn as rnn
from graphgrad.compat.contrib import seq2seq as seq2seq
from graphgrad.compat.contrib import slim as slim
from graphgrad.compat.contrib import staging as staging
from graphgrad.compat.contrib import stateless as stateless
from graphgrad.compat.contrib import tensorboard as tensorboard
from graphgrad.compat.contrib import training as training
from graphgrad.compat.contrib import util as util
from graphgrad.compat.v1 import autograph as autograph

__all__ = [
    "autograph", "data", "distributions", "eager", "framework", "graph_editor", "image", "integrate", "layers",
    "legacy_seq2seq", "lookup", "memory_stats", "metrics", "nn", "opt", "rnn", "seq2seq", "slim", "staging",
    "stateless", "tensorboard", "training", "util"
]
