"""`tf.contrib.training.HParams`: named hyperparameters with types."""

from __future__ import annotations

import json
from typing import Any


class HParams:
    """Hyperparameters: attributes that keep their types.

    Args:
      hparam_def: must be None.
      model_structure: kept.
      **kwargs: names and values: numbers, strings, or lists of them.
    Reference: `tf.contrib.training.HParams` of TensorFlow 1.15.

    >>> from graphgrad.extras.contrib.hparams import HParams
    >>> hparams = HParams(rate=0.1, layers=[1, 2], name="a")
    >>> hparams.parse("rate=0.5,layers=[3,4]").values() == {"rate": 0.5, "layers": [3, 4], "name": "a"}
    True
    """

    def __init__(self, hparam_def: Any = None, model_structure: Any = None, **kwargs: Any):
        if hparam_def is not None:
            raise ValueError("hparam_def is not supported. Fix: give names and values")
        self._types: dict[str, tuple[type, bool]] = {}
        self._model_structure = model_structure
        for name, value in kwargs.items():
            self.add_hparam(name, value)

    def add_hparam(self, name: str, value: Any) -> None:
        """Adds one.

        Args:
          name: its name.
          value: its value.
        Raises: ValueError for a name that is taken, or a list that is empty.
        """
        if getattr(self, name, None) is not None:
            raise ValueError(f"Hyperparameter name is reserved: {name}")
        if isinstance(value, (list, tuple)):
            if not value:
                raise ValueError(f"Multi-valued hyperparameters cannot be empty: {name}")
            self._types[name] = type(value[0]), True
        else:
            self._types[name] = type(value), False
        setattr(self, name, value)

    def set_hparam(self, name: str, value: Any) -> None:
        """Sets one, keeping its type.

        Args:
          name: its name.
          value: its value.
        Raises: KeyError for an unknown name; ValueError for a list in place of a value, or a value that
          does not have the type.
        """
        kind, is_list = self._types[name]
        if isinstance(value, (list, tuple)):
            if not is_list:
                raise ValueError(f"Must not pass a list for single-valued parameter: {name}")
            setattr(self, name, [_cast(name, kind, v) for v in value])
        else:
            if is_list:
                raise ValueError(f"Must pass a list for multi-valued parameter: {name}.")
            setattr(self, name, _cast(name, kind, value))

    def del_hparam(self, name: str) -> None:
        """Removes one, if it is there.

        Args:
          name: its name.
        """
        if hasattr(self, name):
            delattr(self, name)
            del self._types[name]

    def parse(self, values: str) -> HParams:
        """Sets those in a string, e.g. 'rate=0.1,layers=[1,2],sizes[1]=3'.

        Args:
          values: the string.
        Returns: itself.
        Raises: ValueError for an unknown name, or a string of another form.
        """
        import re

        at = 0
        pattern = re.compile(r"\s*(?P<name>[A-Za-z_]\w*)\s*(\[\s*(?P<index>\d+)\s*\])?\s*="
                             r"\s*(\[(?P<list>[^\]]*)\]|(?P<value>[^,\[]*))\s*(,|$)")
        while at < len(values):
            found = pattern.match(values, at)
            if found is None or found.end() == at:
                raise ValueError(f"Malformed hyperparameter value: {values[at:]}")
            at = found.end()
            name = found["name"]
            if name not in self._types:
                raise ValueError(f"Unknown hyperparameter type for {name}")
            if found["list"] is not None:
                self.set_hparam(name, [_parsed(name, self._types[name][0], v) for v in found["list"].split(",")])
            elif found["index"] is not None:
                items = list(getattr(self, name))
                items[int(found["index"])] = _parsed(name, self._types[name][0], found["value"])
                self.set_hparam(name, items)
            else:
                self.set_hparam(name, _parsed(name, self._types[name][0], found["value"]))
        return self

    def override_from_dict(self, values_dict: dict[str, Any]) -> HParams:
        """Sets those in a dictionary.

        Args:
          values_dict: names and values.
        Returns: itself.
        """
        for name, value in values_dict.items():
            self.set_hparam(name, value)
        return self

    def parse_json(self, values_json: str) -> HParams:
        """Sets those in a JSON string.

        Args:
          values_json: the string.
        Returns: itself.
        """
        return self.override_from_dict(json.loads(values_json))

    def values(self) -> dict[str, Any]:
        """Returns names and values."""
        return {name: getattr(self, name) for name in self._types}

    def to_json(self, indent: Any = None, separators: Any = None, sort_keys: bool = False) -> str:
        """Returns names and values as JSON.

        Args:
          indent, separators, sort_keys: as for `json.dumps`.
        """
        return json.dumps(self.values(), indent=indent, separators=separators, sort_keys=sort_keys)

    def get(self, key: str, default: Any = None) -> Any:
        """Returns the value of one, or the default.

        Args:
          key: its name.
          default: the result for an unknown name.
        """
        return getattr(self, key) if key in self._types else default

    def __contains__(self, key: str) -> bool:
        return key in self._types

    def __str__(self) -> str:
        return str(sorted(self.values().items()))

    def __repr__(self) -> str:
        return f"HParams({self.values()})"


def _cast(name: str, kind: type, value: Any) -> Any:
    problem = ValueError(f"Could not cast hparam '{name}' of type '{kind}' from value {value!r}")
    own = isinstance(value, kind) and not (kind is int and isinstance(value, bool))
    if value is None or kind is type(None) or own:
        return value
    if isinstance(value, str) != (kind is str) or (kind is bool) != isinstance(value, bool):
        raise problem
    if kind is int and int(value) != value:
        raise problem
    return kind(value)


def _parsed(name: str, kind: type, text: str) -> Any:
    text = text.strip()
    try:
        if kind is bool:
            return {"true": True, "1": True, "false": False, "0": False}[text.lower()]
        return int(text) if kind is int else kind(text)
    except (KeyError, ValueError):
        raise ValueError(f"Could not parse hparam '{name}' of type '{kind.__name__}' with value '{text}'") from None
