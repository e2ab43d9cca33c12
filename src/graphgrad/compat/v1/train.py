"""`tf.train` of TensorFlow 1."""

# -- optimizers -----------------------------------------------------------------------
from graphgrad.train.adadelta import AdadeltaOptimizer as AdadeltaOptimizer
from graphgrad.train.adagrad_da import AdagradDAOptimizer as AdagradDAOptimizer
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
from graphgrad.train.proximal import ProximalAdagradOptimizer as ProximalAdagradOptimizer
from graphgrad.train.proximal import ProximalGradientDescentOptimizer as ProximalGradientDescentOptimizer
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
from graphgrad.train.coordinator import LooperThread as LooperThread
from graphgrad.train.queue_runner import QueueRunner as QueueRunner
from graphgrad.train.queue_runner import add_queue_runner as add_queue_runner
from graphgrad.train.queue_runner import start_queue_runners as start_queue_runners
from graphgrad.compat.v1 import _train_queue_runner as queue_runner

# -- input pipelines ------------------------------------------------------------------------
from graphgrad.train.batching import batch as batch
from graphgrad.train.batching import batch_join as batch_join
from graphgrad.train.batching import maybe_batch as maybe_batch
from graphgrad.train.batching import maybe_batch_join as maybe_batch_join
from graphgrad.train.batching import maybe_shuffle_batch as maybe_shuffle_batch
from graphgrad.train.batching import maybe_shuffle_batch_join as maybe_shuffle_batch_join
from graphgrad.train.batching import shuffle_batch as shuffle_batch
from graphgrad.train.batching import shuffle_batch_join as shuffle_batch_join
from graphgrad.train.input_producers import input_producer as input_producer
from graphgrad.train.input_producers import limit_epochs as limit_epochs
from graphgrad.train.input_producers import match_filenames_once as match_filenames_once
from graphgrad.train.input_producers import range_input_producer as range_input_producer
from graphgrad.train.input_producers import slice_input_producer as slice_input_producer
from graphgrad.train.input_producers import string_input_producer as string_input_producer

from graphgrad.train.session_manager import SessionManager as SessionManager
from graphgrad.train.supervisor import Supervisor as Supervisor
from graphgrad.train.supervisor import basic_train_loop as basic_train_loop

# -- event files --------------------------------------------------------------------------
from graphgrad.train.file_writer import FileWriter as SummaryWriter  # the name of 0.x
from graphgrad.train.records import summary_iterator as summary_iterator

# -- many processes: one is enough for them, or they say so -----------------------------------
from graphgrad.train.processes import ClusterSpec as ClusterSpec
from graphgrad.train.processes import Server as Server
from graphgrad.train.processes import SyncReplicasOptimizer as SyncReplicasOptimizer
from graphgrad.train.processes import replica_device_setter as replica_device_setter

# -- monitored sessions ------------------------------------------------------------------
from graphgrad.train.monitored_session import ChiefSessionCreator as ChiefSessionCreator
from graphgrad.train.monitored_session import MonitoredSession as MonitoredSession
from graphgrad.train.monitored_session import MonitoredTrainingSession as MonitoredTrainingSession
from graphgrad.train.monitored_session import Scaffold as Scaffold
from graphgrad.train.monitored_session import SessionCreator as SessionCreator
from graphgrad.train.monitored_session import SingularMonitoredSession as SingularMonitoredSession
from graphgrad.train.monitored_session import WorkerSessionCreator as WorkerSessionCreator
from graphgrad.train.saving_hooks import CheckpointSaverHook as CheckpointSaverHook
from graphgrad.train.saving_hooks import CheckpointSaverListener as CheckpointSaverListener
from graphgrad.train.saving_hooks import StepCounterHook as StepCounterHook
from graphgrad.train.saving_hooks import SummarySaverHook as SummarySaverHook
from graphgrad.train.session_hooks import FeedFnHook as FeedFnHook
from graphgrad.train.session_hooks import FinalOpsHook as FinalOpsHook
from graphgrad.train.session_hooks import GlobalStepWaiterHook as GlobalStepWaiterHook
from graphgrad.train.session_hooks import LoggingTensorHook as LoggingTensorHook
from graphgrad.train.session_hooks import NanLossDuringTrainingError as NanLossDuringTrainingError
from graphgrad.train.session_hooks import NanTensorHook as NanTensorHook
from graphgrad.train.session_hooks import SecondOrStepTimer as SecondOrStepTimer
from graphgrad.train.session_hooks import SessionRunArgs as SessionRunArgs
from graphgrad.train.session_hooks import SessionRunContext as SessionRunContext
from graphgrad.train.session_hooks import SessionRunHook as SessionRunHook
from graphgrad.train.session_hooks import SessionRunValues as SessionRunValues
from graphgrad.train.session_hooks import StopAtStepHook as StopAtStepHook

# -- graphs and records in files ---------------------------------------------------------
from graphgrad.ir.example_messages import BytesList as BytesList
from graphgrad.ir.example_messages import Example as Example
from graphgrad.ir.example_messages import Feature as Feature
from graphgrad.ir.example_messages import FeatureList as FeatureList
from graphgrad.ir.example_messages import FeatureLists as FeatureLists
from graphgrad.ir.example_messages import Features as Features
from graphgrad.ir.example_messages import FloatList as FloatList
from graphgrad.ir.example_messages import Int64List as Int64List
from graphgrad.ir.example_messages import SequenceExample as SequenceExample
from graphgrad.ir.graph_messages import SaverDef as SaverDef
from graphgrad.train.graph_files import write_graph as write_graph
from graphgrad.train.meta_graph import export_meta_graph as export_meta_graph
from graphgrad.train.meta_graph import import_meta_graph as import_meta_graph

# What a name that is missing gets to hear.
from graphgrad.compat.missing import missing_attribute as _missing_attribute

_CHECKPOINTS = {
    "Checkpoint": "graphgrad.train.object_checkpoint:CheckpointV1",
    "CheckpointOptions": "graphgrad.train.object_checkpoint:CheckpointOptions",
    "CheckpointManager": "graphgrad.train.checkpoint_manager:CheckpointManager",
    "checkpoints_iterator": "graphgrad.train.checkpoint_manager:checkpoints_iterator",
}
__getattr__ = _missing_attribute(__name__, _CHECKPOINTS)
