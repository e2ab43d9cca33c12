"""`tf.contrib.graph_editor` of TensorFlow 1.15. Written by `make faces` from exports.txt."""

from graphgrad.compat.lazy import face as _face

__all__, __getattr__, __dir__ = _face(__name__, """
graphgrad.extras.contrib.graph_editor: TransformerInfo add_control_inputs copy copy_with_input_replacements
    graph_replace remove_control_inputs reroute_inputs reroute_ts
graphgrad.extras.contrib.graph_selection: SubGraphView filter_ops filter_ops_from_regex filter_ts filter_ts_from_regex
    get_backward_walk_ops get_consuming_ops get_forward_walk_ops get_generating_ops get_name_scope_ops get_tensors
    get_walks_intersection_ops make_list_of_op make_list_of_t make_view select_ops select_ts sgv
""")
