"""`tf.raw_ops`: each op type as a function of keyword arguments. It has no names of its own, `Any` being an op type."""

from typing import Any as _Any


def __getattr__(name: str) -> _Any:
    from graphgrad.compat.raw_op import raw_op

    return raw_op(name)


def __dir__() -> list[str]:
    from graphgrad.ir.opdef import registry

    return sorted(registry)
