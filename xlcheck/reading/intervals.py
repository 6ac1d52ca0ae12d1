"""Which intervals hold a point: a sorted list with a tree of maxima, so that each interval is found once."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from typing import Generic, TypeVar

T = TypeVar("T")


class Intervals(Generic[T]):
    """Intervals of whole numbers (both ends inclusive), each with a payload."""

    __slots__ = ("_payloads", "_size", "_starts", "_tree")

    def __init__(self, items: list[tuple[int, int, T]]) -> None:
        items = sorted(items, key=lambda item: item[0])
        self._starts = [item[0] for item in items]
        self._payloads = [item[2] for item in items]
        self._size = 1
        while self._size < len(items):
            self._size *= 2
        self._tree = [0] * (2 * self._size)
        for index, item in enumerate(items):
            self._tree[self._size + index] = item[1]
        for index in range(self._size - 1, 0, -1):
            self._tree[index] = max(self._tree[2 * index], self._tree[2 * index + 1])

    def fresh(self) -> list[int]:
        """Return a copy of the tree for `stab` to strike found intervals from."""
        return self._tree.copy()

    def stab(self, point: int, tree: list[int] | None = None) -> Iterator[T]:
        """Yield the payloads of the intervals that hold the point; with a tree of `fresh`, never one twice."""
        size = self._size
        seen = self._tree if tree is None else tree
        count = bisect_right(self._starts, point)
        stack = [1] if count else []
        found = []
        while stack:
            node = stack.pop()
            if seen[node] < point:
                continue
            if node >= size:
                if node - size < count:
                    found.append(node)
                continue
            left = 2 * node
            if self._first_leaf(left + 1) < count:
                stack.append(left + 1)
            stack.append(left)
        for leaf in found:
            if tree is not None:
                self._strike(tree, leaf)
            yield self._payloads[leaf - size]

    def _first_leaf(self, node: int) -> int:
        """Return the index of the leftmost interval below a node."""
        return (node << (self._size.bit_length() - node.bit_length())) - self._size

    @staticmethod
    def _strike(tree: list[int], leaf: int) -> None:
        tree[leaf] = 0
        node = leaf // 2
        while node:
            largest = max(tree[2 * node], tree[2 * node + 1])
            if tree[node] == largest:
                break
            tree[node] = largest
            node //= 2
