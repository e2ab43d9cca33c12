"""`tf.compat.v1.profiler.ProfileOptionBuilder`: what a profile shows."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

_OF_EACH = {"account_type_regexes": [".*"], "start_name_regexes": [".*"], "trim_name_regexes": [],
            "show_name_regexes": [".*"], "hide_name_regexes": [], "step": -1, "output": "stdout"}
_NOTHING = {"min_bytes": 0, "min_micros": 0, "min_params": 0, "min_float_ops": 0, "min_occurrence": 0}
_DEFAULT = {"max_depth": 100, **_NOTHING, "order_by": "name", "account_displayed_op_only": False,
            "select": ["micros"], **_OF_EACH}


class ProfileOptionBuilder:
    """Builds the options of `tf.profiler.profile`, one after the other.

    Args:
      options: a dictionary of options to begin with; by default everything is shown, with times, by name.
    Reference: TensorFlow 2.21 `tf.compat.v1.profiler.ProfileOptionBuilder`.

    >>> builder = tf.profiler.ProfileOptionBuilder(tf.profiler.ProfileOptionBuilder.float_operation())
    >>> options = builder.with_max_depth(2).with_empty_output().build()
    >>> options["max_depth"], options["select"]
    (2, ['float_ops'])
    """

    def __init__(self, options: dict[str, Any] | None = None):
        self._options: dict[str, Any] = copy.deepcopy(_DEFAULT if options is None else options)

    @staticmethod
    def trainable_variables_parameter() -> dict[str, Any]:
        """Returns options for the number of parameters of trainable variables, by scopes."""
        return copy.deepcopy({"max_depth": 10000, **_NOTHING, "order_by": "name", "account_displayed_op_only": True,
                              "select": ["params"], **_OF_EACH, "account_type_regexes": ["_trainable_variables"]})

    @staticmethod
    def float_operation() -> dict[str, Any]:
        """Returns options for the number of float operations."""
        return copy.deepcopy({"max_depth": 10000, **_NOTHING, "min_float_ops": 1, "order_by": "float_ops",
                              "account_displayed_op_only": True, "select": ["float_ops"], **_OF_EACH})

    @staticmethod
    def time_and_memory(min_micros: int = 1, min_bytes: int = 1, min_accelerator_micros: int = 0,
                        min_cpu_micros: int = 0, min_peak_bytes: int = 0, min_residual_bytes: int = 0,
                        min_output_bytes: int = 0) -> dict[str, Any]:
        """Returns options for times and bytes of a run.

        Args:
          min_micros, min_accelerator_micros, min_cpu_micros: show only what takes at least as many microseconds,
          min_bytes, min_peak_bytes, min_residual_bytes, min_output_bytes: and as many bytes.
        """
        return copy.deepcopy({
            "max_depth": 10000, **_NOTHING, "min_bytes": min_bytes, "min_peak_bytes": min_peak_bytes,
            "min_residual_bytes": min_residual_bytes, "min_output_bytes": min_output_bytes, "min_micros": min_micros,
            "min_accelerator_micros": min_accelerator_micros, "min_cpu_micros": min_cpu_micros, "order_by": "micros",
            "account_displayed_op_only": True, "select": ["micros", "bytes"], **_OF_EACH})

    def build(self) -> dict[str, Any]:
        """Returns the options, a dictionary."""
        return copy.deepcopy(self._options)

    def with_max_depth(self, max_depth: int) -> ProfileOptionBuilder:
        """Shows at most as many levels.

        Args:
          max_depth: the number of levels.
        """
        return self._with(max_depth=max_depth)

    def with_min_memory(self, min_bytes: int = 0, min_peak_bytes: int = 0, min_residual_bytes: int = 0,
                        min_output_bytes: int = 0) -> ProfileOptionBuilder:
        """Shows only what takes at least as many bytes.

        Args:
          min_bytes, min_peak_bytes, min_residual_bytes, min_output_bytes: the bytes.
        """
        return self._with(min_bytes=min_bytes, min_peak_bytes=min_peak_bytes, min_residual_bytes=min_residual_bytes,
                          min_output_bytes=min_output_bytes)

    def with_min_execution_time(self, min_micros: int = 0, min_accelerator_micros: int = 0,
                                min_cpu_micros: int = 0) -> ProfileOptionBuilder:
        """Shows only what takes at least as many microseconds.

        Args:
          min_micros, min_accelerator_micros, min_cpu_micros: the microseconds.
        """
        return self._with(min_micros=min_micros, min_accelerator_micros=min_accelerator_micros,
                          min_cpu_micros=min_cpu_micros)

    def with_min_parameters(self, min_params: int) -> ProfileOptionBuilder:
        """Shows only what has at least as many parameters.

        Args:
          min_params: the number.
        """
        return self._with(min_params=min_params)

    def with_min_occurrence(self, min_occurrence: int) -> ProfileOptionBuilder:
        """Shows only types of operations that occur at least as often; for the view 'op'.

        Args:
          min_occurrence: the number.
        """
        return self._with(min_occurrence=min_occurrence)

    def with_min_float_operations(self, min_float_ops: int) -> ProfileOptionBuilder:
        """Shows only what takes at least as many float operations.

        Args:
          min_float_ops: the number.
        """
        return self._with(min_float_ops=min_float_ops)

    def with_accounted_types(self, account_type_regexes: Sequence[str]) -> ProfileOptionBuilder:
        """Counts only some types of operations.

        Args:
          account_type_regexes: patterns of types, such as "MatMul", of devices, or "_trainable_variables".
        """
        return self._with(account_type_regexes=list(account_type_regexes))

    def with_node_names(self, start_name_regexes: Sequence[str] | None = None,
                        show_name_regexes: Sequence[str] | None = None, hide_name_regexes: Sequence[str] | None = None,
                        trim_name_regexes: Sequence[str] | None = None) -> ProfileOptionBuilder:
        """Shows only some names.

        Args:
          start_name_regexes: patterns of names at which the tree begins,
          show_name_regexes, hide_name_regexes: of those that are shown, and are not,
          trim_name_regexes: and of those below which nothing is shown.
        """
        given = {"start_name_regexes": start_name_regexes, "show_name_regexes": show_name_regexes,
                 "hide_name_regexes": hide_name_regexes, "trim_name_regexes": trim_name_regexes}
        return self._with(**{name: list(value) for name, value in given.items() if value is not None})

    def account_displayed_op_only(self, is_true: bool) -> ProfileOptionBuilder:
        """Says what totals consist of.

        Args:
          is_true: whether only of what is shown.
        """
        return self._with(account_displayed_op_only=is_true)

    def with_empty_output(self) -> ProfileOptionBuilder:
        """Prints nothing."""
        return self._with(output="none")

    def with_stdout_output(self) -> ProfileOptionBuilder:
        """Prints the profile."""
        return self._with(output="stdout")

    def with_file_output(self, outfile: str) -> ProfileOptionBuilder:
        """Writes the profile to a file.

        Args:
          outfile: its path.
        """
        return self._with(output=f"file:outfile={outfile}")

    def with_timeline_output(self, timeline_file: str) -> ProfileOptionBuilder:
        """Writes a timeline of the run to a file, for chrome://tracing and Perfetto.

        Args:
          timeline_file: its path; the number of the step is added.
        """
        return self._with(output=f"timeline:outfile={timeline_file}")

    def with_pprof_output(self, pprof_file: str) -> ProfileOptionBuilder:
        """Asks for a profile for pprof, which `profile` refuses.

        Args:
          pprof_file: its path.
        """
        return self._with(output=f"pprof:outfile={pprof_file}")

    def order_by(self, attribute: str) -> ProfileOptionBuilder:
        """Sorts what is shown.

        Args:
          attribute: one of name, micros, bytes, peak_bytes, residual_bytes, output_bytes, accelerator_micros,
            cpu_micros, params, float_ops, occurrence; numbers from the largest on.
        """
        return self._with(order_by=attribute)

    def select(self, attributes: Sequence[str]) -> ProfileOptionBuilder:
        """Says what is shown.

        Args:
          attributes: some of those of `order_by`, of device, op_types and input_shapes.
        """
        return self._with(select=list(attributes))

    def with_step(self, step: int) -> ProfileOptionBuilder:
        """Profiles one step of a `Profiler`.

        Args:
          step: its number; -1 for the mean of all.
        """
        return self._with(step=step)

    def _with(self, **options: Any) -> ProfileOptionBuilder:
        self._options.update(options)
        return self
