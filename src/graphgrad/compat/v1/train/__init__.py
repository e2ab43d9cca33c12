"""`tf.train` of TensorFlow 1. Written by `make faces` from exports.txt."""

from graphgrad.compat.lazy import face as _face

__all__, __getattr__, __dir__ = _face(__name__, """
graphgrad.compat.v1.train.queue_runner: queue_runner=.
graphgrad.extras.import_v1.import_meta_graph: import_meta_graph
graphgrad.extras.pipelines.batching: batch batch_join maybe_batch maybe_batch_join maybe_shuffle_batch
    maybe_shuffle_batch_join shuffle_batch shuffle_batch_join
graphgrad.extras.pipelines.input_producers: input_producer limit_epochs match_filenames_once range_input_producer
    slice_input_producer string_input_producer
graphgrad.extras.pipelines.records: summary_iterator
graphgrad.extras.profiling.profiler_hook: ProfilerHook
graphgrad.frontend.config.config_proto: ClusterDef JobDef
graphgrad.ir.graph_messages: SaverDef
graphgrad.ir.proto.example_messages: BytesList Example Feature FeatureList FeatureLists Features FloatList Int64List
    SequenceExample
graphgrad.training.checkpoints.checkpoint_init: init_from_checkpoint
graphgrad.training.checkpoints.checkpoint_manager: CheckpointManager checkpoints_iterator
graphgrad.training.checkpoints.checkpoint_state: NewCheckpointReader=new_checkpoint_reader checkpoint_exists
    generate_checkpoint_state_proto get_checkpoint_mtimes get_checkpoint_state latest_checkpoint list_variables
    load_checkpoint load_variable remove_checkpoint update_checkpoint_state
graphgrad.training.checkpoints.graph_files: write_graph
graphgrad.training.checkpoints.meta_graph: export_meta_graph
graphgrad.training.checkpoints.object_checkpoint: Checkpoint=CheckpointV1 CheckpointOptions
graphgrad.training.checkpoints.saver: Saver
graphgrad.training.checkpoints.warm_start: VocabInfo warm_start
graphgrad.training.coordination.coordinator: Coordinator LooperThread
graphgrad.training.coordination.queue_runner: QueueRunner add_queue_runner start_queue_runners
graphgrad.training.optimizers.adadelta: AdadeltaOptimizer
graphgrad.training.optimizers.adagrad: AdagradOptimizer
graphgrad.training.optimizers.adagrad_da: AdagradDAOptimizer
graphgrad.training.optimizers.adam: AdamOptimizer
graphgrad.training.optimizers.averages: ExponentialMovingAverage
graphgrad.training.optimizers.ftrl: FtrlOptimizer
graphgrad.training.optimizers.global_step: assert_global_step create_global_step get_global_step
    get_or_create_global_step global_step
graphgrad.training.optimizers.gradient_descent: GradientDescentOptimizer
graphgrad.training.optimizers.momentum: MomentumOptimizer
graphgrad.training.optimizers.optimizer: Optimizer
graphgrad.training.optimizers.proximal: ProximalAdagradOptimizer ProximalGradientDescentOptimizer
graphgrad.training.optimizers.rmsprop: RMSPropOptimizer
graphgrad.training.optimizers.schedules: cosine_decay cosine_decay_restarts exponential_decay inverse_time_decay
    linear_cosine_decay natural_exp_decay noisy_linear_cosine_decay piecewise_constant
    piecewise_constant_decay=piecewise_constant polynomial_decay
graphgrad.training.sessions.cluster_spec: ClusterSpec
graphgrad.training.sessions.monitored_session: MonitoredSession MonitoredTrainingSession SingularMonitoredSession
graphgrad.training.sessions.replica_devices: replica_device_setter
graphgrad.training.sessions.saving_hooks: CheckpointSaverHook CheckpointSaverListener StepCounterHook SummarySaverHook
graphgrad.training.sessions.server: Server ServerDef
graphgrad.training.sessions.session_creators: ChiefSessionCreator Scaffold SessionCreator WorkerSessionCreator
graphgrad.training.sessions.session_hooks: FeedFnHook FinalOpsHook GlobalStepWaiterHook LoggingTensorHook
    NanLossDuringTrainingError NanTensorHook SecondOrStepTimer SessionRunArgs SessionRunContext SessionRunHook
    SessionRunValues StopAtStepHook
graphgrad.training.sessions.session_manager: SessionManager
graphgrad.training.sessions.supervisor: Supervisor basic_train_loop
graphgrad.training.sessions.sync_replicas: SyncReplicasOptimizer
graphgrad.training.summaries.file_writer: SummaryWriter=FileWriter
""")
