"""`tf.contrib.graph_editor` of TensorFlow 1.15. Written by `make faces` from exports.txt."""

from graphgrad.compat.lazy import face as _face

__all__, __getattr__, __dir__ = _face(__name__, """
graphgrad.extras.contrib.graph_editor: SubGraphView TransformerInfo add_control_inputs copy copy_with_input_replacements
    filter_ops filter_ops_from_regex filter_ts filter_ts_from_regex get_backward_walk_ops get_consuming_ops
    get_forward_walk_ops get_generating_ops get_name_scope_ops get_tensors get_walks_intersection_ops graph_replace
    make_list_of_op make_list_of_t make_view remove_control_inputs reroute_inputs reroute_ts select_ops select_ts sgv
""")
