"""Relations between parameters that a search keeps, such as `alpha < beta`."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

from ackclock.errors import ArgumentValueError
from ackclock.text.suggest import hint

_EXAMPLE = "'alpha < beta' or 'low + 1 <= high'"
_COMPARISONS: dict[type[ast.cmpop], Callable[[float, float], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_SUMS: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


@dataclass(frozen=True)
class Relation:
    """A comparison of parameters: names, numbers, `+ - * /`, brackets and `< <= > >=`."""

    text: str
    _tree: ast.Compare = field(repr=False, compare=False)

    @classmethod
    def parse(cls, text: str, known: Collection[str]) -> Relation:
        """Read a relation between the parameters `known`. Raises `ArgumentError`."""
        try:
            tree = ast.parse(text.strip(), mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            tree = None
        if not isinstance(tree, ast.Compare) or not all(type(each) in _COMPARISONS for each in tree.ops):
            raise _wrong(text, f"expected a comparison of parameters, such as {_EXAMPLE}")
        for part in (tree.left, *tree.comparators):
            _check(text, part, known)
        return cls(text.strip(), tree)

    @property
    def names(self) -> frozenset[str]:
        """The parameters that it compares."""
        return frozenset(node.id for node in ast.walk(self._tree) if isinstance(node, ast.Name))

    def holds(self, values: Mapping[str, float]) -> bool:
        """Return whether parameters obey it. A division by zero counts as a violation."""
        parts = [self._tree.left, *self._tree.comparators]
        try:
            numbers = [_value(part, values) for part in parts]
        except ZeroDivisionError:
            return False
        pairs = zip(self._tree.ops, numbers, numbers[1:], strict=False)
        return all(_COMPARISONS[type(each)](left, right) for each, left, right in pairs)


def _check(text: str, node: ast.expr, known: Collection[str]) -> None:
    """Raise `ArgumentError` where an expression is more than arithmetic over parameters."""
    match node:
        case ast.Name(id=name):
            if name not in known:
                raise _wrong(text, f"there is no parameter {name!r} that is a number; {hint(name, known)}")
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            if not math.isfinite(number):
                raise _wrong(text, "a number is not finite")
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _SUMS:
            _check(text, left, known)
            _check(text, right, known)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            _check(text, operand, known)
        case _:
            raise _wrong(text, f"only names, numbers and + - * / may be compared, as in {_EXAMPLE}")


def _value(node: ast.expr, values: Mapping[str, float]) -> float:
    match node:
        case ast.Name(id=name):
            return values[name]
        case ast.Constant(value=int() | float() as number):
            return float(number)
        case ast.BinOp(left=left, op=op, right=right):
            return _SUMS[type(op)](_value(left, values), _value(right, values))
        case ast.UnaryOp(operand=operand):
            return -_value(operand, values)
        case _:
            raise AssertionError("invariant: a relation is checked when it is read")


def _wrong(text: str, what: str) -> ArgumentValueError:
    return ArgumentValueError("keep", f"{text!r}: {what}", option="--constraint")
