"""`tf.contrib.graph_editor` of TensorFlow 1.15. Written by `make faces` from exports.txt."""

from graphgrad.extras.contrib.graph_editor import TransformerInfo as TransformerInfo
from graphgrad.extras.contrib.graph_editor import add_control_inputs as add_control_inputs
from graphgrad.extras.contrib.graph_editor import copy as copy
from graphgrad.extras.contrib.graph_editor import copy_with_input_replacements as copy_with_input_replacements
from graphgrad.extras.contrib.graph_editor import graph_replace as graph_replace
from graphgrad.extras.contrib.graph_editor import remove_control_inputs as remove_control_inputs
from graphgrad.extras.contrib.graph_editor import reroute_inputs as reroute_inputs
from graphgrad.extras.contrib.graph_editor import reroute_ts as reroute_ts
from graphgrad.extras.contrib.graph_selection import SubGraphView as SubGraphView
from graphgrad.extras.contrib.graph_selection import filter_ops as filter_ops
from graphgrad.extras.contrib.graph_selection import filter_ops_from_regex as filter_ops_from_regex
from graphgrad.extras.contrib.graph_selection import filter_ts as filter_ts
from graphgrad.extras.contrib.graph_selection import filter_ts_from_regex as filter_ts_from_regex
from graphgrad.extras.contrib.graph_selection import get_backward_walk_ops as get_backward_walk_ops
from graphgrad.extras.contrib.graph_selection import get_consuming_ops as get_consuming_ops
from graphgrad.extras.contrib.graph_selection import get_forward_walk_ops as get_forward_walk_ops
from graphgrad.extras.contrib.graph_selection import get_generating_ops as get_generating_ops
from graphgrad.extras.contrib.graph_selection import get_name_scope_ops as get_name_scope_ops
from graphgrad.extras.contrib.graph_selection import get_tensors as get_tensors
from graphgrad.extras.contrib.graph_selection import get_walks_intersection_ops as get_walks_intersection_ops
from graphgrad.extras.contrib.graph_selection import make_list_of_op as make_list_of_op
from graphgrad.extras.contrib.graph_selection import make_list_of_t as make_list_of_t
from graphgrad.extras.contrib.graph_selection import make_view as make_view
from graphgrad.extras.contrib.graph_selection import select_ops as select_ops
from graphgrad.extras.contrib.graph_selection import select_ts as select_ts
from graphgrad.extras.contrib.graph_selection import sgv as sgv

__all__ = [
    "SubGraphView", "TransformerInfo", "add_control_inputs", "copy", "copy_with_input_replacements", "filter_ops",
    "filter_ops_from_regex", "filter_ts", "filter_ts_from_regex", "get_backward_walk_ops", "get_consuming_ops",
    "get_forward_walk_ops", "get_generating_ops", "get_name_scope_ops", "get_tensors", "get_walks_intersection_ops",
    "graph_replace", "make_list_of_op", "make_list_of_t", "make_view", "remove_control_inputs", "reroute_inputs",
    "reroute_ts", "select_ops", "select_ts", "sgv"
]
