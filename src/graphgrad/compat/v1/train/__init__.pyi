"""`tf.train` of TensorFlow 1. Written by `make faces` from exports.txt."""

from graphgrad.compat.v1.train import queue_runner as queue_runner
from graphgrad.extras.import_v1.import_meta_graph import import_meta_graph as import_meta_graph
from graphgrad.extras.pipelines.batching import batch as batch
from graphgrad.extras.pipelines.batching import batch_join as batch_join
from graphgrad.extras.pipelines.batching import maybe_batch as maybe_batch
from graphgrad.extras.pipelines.batching import maybe_batch_join as maybe_batch_join
from graphgrad.extras.pipelines.batching import maybe_shuffle_batch as maybe_shuffle_batch
from graphgrad.extras.pipelines.batching import maybe_shuffle_batch_join as maybe_shuffle_batch_join
from graphgrad.extras.pipelines.batching import shuffle_batch as shuffle_batch
from graphgrad.extras.pipelines.batching import shuffle_batch_join as shuffle_batch_join
from graphgrad.extras.pipelines.input_producers import input_producer as input_producer
from graphgrad.extras.pipelines.input_producers import limit_epochs as limit_epochs
from graphgrad.extras.pipelines.input_producers import match_filenames_once as match_filenames_once
from graphgrad.extras.pipelines.input_producers import range_input_producer as range_input_producer
from graphgrad.extras.pipelines.input_producers import slice_input_producer as slice_input_producer
from graphgrad.extras.pipelines.input_producers import string_input_producer as string_input_producer
from graphgrad.extras.pipelines.records import summary_iterator as summary_iterator
from graphgrad.extras.profiling.profiler_hook import ProfilerHook as ProfilerHook
from graphgrad.frontend.config.config_proto import ClusterDef as ClusterDef
from graphgrad.frontend.config.config_proto import JobDef as JobDef
from graphgrad.ir.graph_messages import SaverDef as SaverDef
from graphgrad.ir.proto.example_messages import BytesList as BytesList
from graphgrad.ir.proto.example_messages import Example as Example
from graphgrad.ir.proto.example_messages import Feature as Feature
from graphgrad.ir.proto.example_messages import FeatureList as FeatureList
from graphgrad.ir.proto.example_messages import FeatureLists as FeatureLists
from graphgrad.ir.proto.example_messages import Features as Features
from graphgrad.ir.proto.example_messages import FloatList as FloatList
from graphgrad.ir.proto.example_messages import Int64List as Int64List
from graphgrad.ir.proto.example_messages import SequenceExample as SequenceExample
from graphgrad.training.checkpoints.checkpoint_init import init_from_checkpoint as init_from_checkpoint
from graphgrad.training.checkpoints.checkpoint_manager import CheckpointManager as CheckpointManager
from graphgrad.training.checkpoints.checkpoint_manager import checkpoints_iterator as checkpoints_iterator
from graphgrad.training.checkpoints.checkpoint_state import checkpoint_exists as checkpoint_exists
from graphgrad.training.checkpoints.checkpoint_state import generate_checkpoint_state_proto as generate_checkpoint_state_proto
from graphgrad.training.checkpoints.checkpoint_state import get_checkpoint_mtimes as get_checkpoint_mtimes
from graphgrad.training.checkpoints.checkpoint_state import get_checkpoint_state as get_checkpoint_state
from graphgrad.training.checkpoints.checkpoint_state import latest_checkpoint as latest_checkpoint
from graphgrad.training.checkpoints.checkpoint_state import list_variables as list_variables
from graphgrad.training.checkpoints.checkpoint_state import load_checkpoint as load_checkpoint
from graphgrad.training.checkpoints.checkpoint_state import load_variable as load_variable
from graphgrad.training.checkpoints.checkpoint_state import new_checkpoint_reader as NewCheckpointReader
from graphgrad.training.checkpoints.checkpoint_state import remove_checkpoint as remove_checkpoint
from graphgrad.training.checkpoints.checkpoint_state import update_checkpoint_state as update_checkpoint_state
from graphgrad.training.checkpoints.graph_files import write_graph as write_graph
from graphgrad.training.checkpoints.meta_graph import export_meta_graph as export_meta_graph
from graphgrad.training.checkpoints.object_checkpoint import CheckpointOptions as CheckpointOptions
from graphgrad.training.checkpoints.object_checkpoint import CheckpointV1 as Checkpoint
from graphgrad.training.checkpoints.saver import Saver as Saver
from graphgrad.training.checkpoints.warm_start import VocabInfo as VocabInfo
from graphgrad.training.checkpoints.warm_start import warm_start as warm_start
from graphgrad.training.coordination.coordinator import Coordinator as Coordinator
from graphgrad.training.coordination.coordinator import LooperThread as LooperThread
from graphgrad.training.coordination.queue_runner import QueueRunner as QueueRunner
from graphgrad.training.coordination.queue_runner import add_queue_runner as add_queue_runner
from graphgrad.training.coordination.queue_runner import start_queue_runners as start_queue_runners
from graphgrad.training.optimizers.adadelta import AdadeltaOptimizer as AdadeltaOptimizer
from graphgrad.training.optimizers.adagrad import AdagradOptimizer as AdagradOptimizer
from graphgrad.training.optimizers.adagrad_da import AdagradDAOptimizer as AdagradDAOptimizer
from graphgrad.training.optimizers.adam import AdamOptimizer as AdamOptimizer
from graphgrad.training.optimizers.averages import ExponentialMovingAverage as ExponentialMovingAverage
from graphgrad.training.optimizers.ftrl import FtrlOptimizer as FtrlOptimizer
from graphgrad.training.optimizers.global_step import assert_global_step as assert_global_step
from graphgrad.training.optimizers.global_step import create_global_step as create_global_step
from graphgrad.training.optimizers.global_step import get_global_step as get_global_step
from graphgrad.training.optimizers.global_step import get_or_create_global_step as get_or_create_global_step
from graphgrad.training.optimizers.global_step import global_step as global_step
from graphgrad.training.optimizers.gradient_descent import GradientDescentOptimizer as GradientDescentOptimizer
from graphgrad.training.optimizers.momentum import MomentumOptimizer as MomentumOptimizer
from graphgrad.training.optimizers.optimizer import Optimizer as Optimizer
from graphgrad.training.optimizers.proximal import ProximalAdagradOptimizer as ProximalAdagradOptimizer
from graphgrad.training.optimizers.proximal import ProximalGradientDescentOptimizer as ProximalGradientDescentOptimizer
from graphgrad.training.optimizers.rmsprop import RMSPropOptimizer as RMSPropOptimizer
from graphgrad.training.optimizers.schedules import cosine_decay as cosine_decay
from graphgrad.training.optimizers.schedules import cosine_decay_restarts as cosine_decay_restarts
from graphgrad.training.optimizers.schedules import exponential_decay as exponential_decay
from graphgrad.training.optimizers.schedules import inverse_time_decay as inverse_time_decay
from graphgrad.training.optimizers.schedules import linear_cosine_decay as linear_cosine_decay
from graphgrad.training.optimizers.schedules import natural_exp_decay as natural_exp_decay
from graphgrad.training.optimizers.schedules import noisy_linear_cosine_decay as noisy_linear_cosine_decay
from graphgrad.training.optimizers.schedules import piecewise_constant as piecewise_constant
from graphgrad.training.optimizers.schedules import piecewise_constant as piecewise_constant_decay
from graphgrad.training.optimizers.schedules import polynomial_decay as polynomial_decay
from graphgrad.training.sessions.cluster_spec import ClusterSpec as ClusterSpec
from graphgrad.training.sessions.monitored_session import MonitoredSession as MonitoredSession
from graphgrad.training.sessions.monitored_session import MonitoredTrainingSession as MonitoredTrainingSession
from graphgrad.training.sessions.monitored_session import SingularMonitoredSession as SingularMonitoredSession
from graphgrad.training.sessions.replica_devices import replica_device_setter as replica_device_setter
from graphgrad.training.sessions.saving_hooks import CheckpointSaverHook as CheckpointSaverHook
from graphgrad.training.sessions.saving_hooks import CheckpointSaverListener as CheckpointSaverListener
from graphgrad.training.sessions.saving_hooks import StepCounterHook as StepCounterHook
from graphgrad.training.sessions.saving_hooks import SummarySaverHook as SummarySaverHook
from graphgrad.training.sessions.server import Server as Server
from graphgrad.training.sessions.server import ServerDef as ServerDef
from graphgrad.training.sessions.session_creators import ChiefSessionCreator as ChiefSessionCreator
from graphgrad.training.sessions.session_creators import Scaffold as Scaffold
from graphgrad.training.sessions.session_creators import SessionCreator as SessionCreator
from graphgrad.training.sessions.session_creators import WorkerSessionCreator as WorkerSessionCreator
from graphgrad.training.sessions.session_hooks import FeedFnHook as FeedFnHook
from graphgrad.training.sessions.session_hooks import FinalOpsHook as FinalOpsHook
from graphgrad.training.sessions.session_hooks import GlobalStepWaiterHook as GlobalStepWaiterHook
from graphgrad.training.sessions.session_hooks import LoggingTensorHook as LoggingTensorHook
from graphgrad.training.sessions.session_hooks import NanLossDuringTrainingError as NanLossDuringTrainingError
from graphgrad.training.sessions.session_hooks import NanTensorHook as NanTensorHook
from graphgrad.training.sessions.session_hooks import SecondOrStepTimer as SecondOrStepTimer
from graphgrad.training.sessions.session_hooks import SessionRunArgs as SessionRunArgs
from graphgrad.training.sessions.session_hooks import SessionRunContext as SessionRunContext
from graphgrad.training.sessions.session_hooks import SessionRunHook as SessionRunHook
from graphgrad.training.sessions.session_hooks import SessionRunValues as SessionRunValues
from graphgrad.training.sessions.session_hooks import StopAtStepHook as StopAtStepHook
from graphgrad.training.sessions.session_manager import SessionManager as SessionManager
from graphgrad.training.sessions.supervisor import Supervisor as Supervisor
from graphgrad.training.sessions.supervisor import basic_train_loop as basic_train_loop
from graphgrad.training.sessions.sync_replicas import SyncReplicasOptimizer as SyncReplicasOptimizer
from graphgrad.training.summaries.file_writer import FileWriter as SummaryWriter

__all__ = [
    "AdadeltaOptimizer", "AdagradDAOptimizer", "AdagradOptimizer", "AdamOptimizer", "BytesList", "Checkpoint",
    "CheckpointManager", "CheckpointOptions", "CheckpointSaverHook", "CheckpointSaverListener", "ChiefSessionCreator",
    "ClusterDef", "ClusterSpec", "Coordinator", "Example", "ExponentialMovingAverage", "Feature", "FeatureList",
    "FeatureLists", "Features", "FeedFnHook", "FinalOpsHook", "FloatList", "FtrlOptimizer", "GlobalStepWaiterHook",
    "GradientDescentOptimizer", "Int64List", "JobDef", "LoggingTensorHook", "LooperThread", "MomentumOptimizer",
    "MonitoredSession", "MonitoredTrainingSession", "NanLossDuringTrainingError", "NanTensorHook",
    "NewCheckpointReader", "Optimizer", "ProfilerHook", "ProximalAdagradOptimizer", "ProximalGradientDescentOptimizer",
    "QueueRunner", "RMSPropOptimizer", "Saver", "SaverDef", "Scaffold", "SecondOrStepTimer", "SequenceExample",
    "Server", "ServerDef", "SessionCreator", "SessionManager", "SessionRunArgs", "SessionRunContext", "SessionRunHook",
    "SessionRunValues", "SingularMonitoredSession", "StepCounterHook", "StopAtStepHook", "SummarySaverHook",
    "SummaryWriter", "Supervisor", "SyncReplicasOptimizer", "VocabInfo", "WorkerSessionCreator", "add_queue_runner",
    "assert_global_step", "basic_train_loop", "batch", "batch_join", "checkpoint_exists", "checkpoints_iterator",
    "cosine_decay", "cosine_decay_restarts", "create_global_step", "exponential_decay", "export_meta_graph",
    "generate_checkpoint_state_proto", "get_checkpoint_mtimes", "get_checkpoint_state", "get_global_step",
    "get_or_create_global_step", "global_step", "import_meta_graph", "init_from_checkpoint", "input_producer",
    "inverse_time_decay", "latest_checkpoint", "limit_epochs", "linear_cosine_decay", "list_variables",
    "load_checkpoint", "load_variable", "match_filenames_once", "maybe_batch", "maybe_batch_join",
    "maybe_shuffle_batch", "maybe_shuffle_batch_join", "natural_exp_decay", "noisy_linear_cosine_decay",
    "piecewise_constant", "piecewise_constant_decay", "polynomial_decay", "queue_runner", "range_input_producer",
    "remove_checkpoint", "replica_device_setter", "shuffle_batch", "shuffle_batch_join", "slice_input_producer",
    "start_queue_runners", "string_input_producer", "summary_iterator", "update_checkpoint_state", "warm_start",
    "write_graph"
]
