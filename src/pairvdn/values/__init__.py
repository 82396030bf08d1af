"""Joint values: a network, a combination of its tables, and a maximiser."""

from pairvdn.values.base import Value

__all__ = ["Value"]
