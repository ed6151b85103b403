"""Records which Python values a traced forward function reads from its modules, and detects changes.

A compiled step depends on Python values: numbers such as a dropout probability, hooks, and functions. While a module is traced, all
attributes that it reads are recorded. The step is compiled again if the value of one of them has changed.
"""

from __future__ import annotations

import functools
import threading
import types
import weakref
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import torch
from torch.nn.modules import module as nn_module

from dlc._torch.fx_graph import UnsupportedError

#: Attributes that torch.nn.Module manages, and whose reads are not recorded. Parameters, buffers and submodules are looked up at each call, and the training
#: mode is part of the cache key.
MANAGED = frozenset(
    (
        "_parameters",
        "_buffers",
        "_modules",
        "training",
        "_non_persistent_buffers_set",
        "_is_full_backward_hook",
        "_compiled_call_impl",
    )
)
#: Names of PyTorch's global hooks, which run at the call of every module.
GLOBAL_HOOKS = tuple(
    name for name in vars(nn_module) if name.startswith(("_global_forward", "_global_backward"))
)
_PLAIN = (
    bool,
    int,
    float,
    complex,
    str,
    bytes,
    type(None),
    torch.dtype,
    torch.device,
    torch.memory_format,
    torch.layout,
)
_MISSING = object()
#: Snapshot that represents every empty container in comparisons of module state.
_EMPTY = object()
#: Nesting depth to which containers and objects are compared.
DEPTH = 4


class _IdentityWrapper:
    """Wrapper of an object that compares by identity."""

    __slots__ = ("value",)

    def __init__(self, value: Any):
        self.value = value

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, _IdentityWrapper) and self.value is other.value

    def __hash__(self) -> int:
        return id(self.value)


def take_snapshot(value: Any, depth: int = DEPTH) -> Any:
    """Returns an immutable snapshot of the value, which compares equal to a later snapshot if the value is unchanged."""
    if isinstance(value, _PLAIN):
        return (type(value), repr(value) if isinstance(value, (float, complex)) else value)
    if isinstance(value, torch.nn.Parameter):
        # A parameter has no snapshot: it is looked up at each call, and replaced by another object while a module is traced.
        return torch.nn.Parameter
    if isinstance(value, torch.Tensor):
        return (
            _IdentityWrapper(value),
            None if not value.is_leaf or value.is_inference() else value._version,
        )
    if depth == 0 or isinstance(value, (torch.nn.Module, type, types.ModuleType)):
        return _IdentityWrapper(value)
    if isinstance(value, Mapping):
        return (
            type(value),
            tuple(
                (take_snapshot(key, depth - 1), take_snapshot(each, depth - 1))
                for key, each in value.items()
            ),
        )
    if isinstance(value, (list, tuple)):
        return (type(value), tuple(take_snapshot(each, depth - 1) for each in value))
    if isinstance(value, (set, frozenset)):
        return (type(value), frozenset(take_snapshot(each, depth - 1) for each in value))
    if isinstance(value, types.FunctionType):
        return _snapshot_function(value, depth)
    if isinstance(value, types.MethodType):
        return (take_snapshot(value.__func__, depth), _IdentityWrapper(value.__self__))
    if isinstance(value, weakref.ref):
        return take_snapshot(value(), depth)
    if isinstance(value, functools.partial):
        return tuple(
            take_snapshot(each, depth) for each in (value.func, value.args, value.keywords)
        )
    fields = getattr(value, "__dict__", None)
    if isinstance(fields, dict):
        return (
            _IdentityWrapper(value),
            tuple(
                (name, take_snapshot(each, min(depth - 1, 2)))
                for name, each in fields.items()
                if isinstance(each, (*_PLAIN, dict, list, tuple, set))
            ),
        )
    return _IdentityWrapper(value)


def _is_torch_function(function: types.FunctionType) -> bool:
    return (function.__module__ or "").startswith("torch.")


def _snapshot_function(function: types.FunctionType, depth: int) -> Any:
    """Returns a snapshot of a function: its code, defaults, closure and plain globals."""
    cells = []
    for cell in function.__closure__ or ():
        try:
            cells.append(take_snapshot(cell.cell_contents, depth - 1))
        except ValueError:  # the closure's variable has not been assigned yet
            cells.append(None)
    known = {} if _is_torch_function(function) else function.__globals__
    plain = tuple(
        (name, take_snapshot(known[name], 1))
        for name in function.__code__.co_names
        if name in known and isinstance(known[name], (*_PLAIN, list, dict, tuple, set))
    )
    return (
        _IdentityWrapper(function.__code__),
        tuple(cells),
        take_snapshot(function.__defaults__, depth - 1),
        take_snapshot(function.__kwdefaults__, depth - 1),
        plain,
    )


def _get_static_attribute(module: torch.nn.Module, name: str) -> Any:
    """Returns an attribute of the module or its class, without evaluating properties."""
    found = module.__dict__.get(name, _MISSING)
    if found is not _MISSING:
        return found
    for each in type(module).__mro__:
        if name in each.__dict__:
            return each.__dict__[name]
    return _MISSING


def _is_immutable(value: Any) -> bool:
    """Returns True if the value cannot change without being replaced by another object."""
    return (
        value is _MISSING
        or isinstance(value, _PLAIN)
        or isinstance(value, types.FunctionType)
        and not value.__closure__
        and _is_torch_function(value)
    )


def _is_empty_container(value: Any) -> bool:
    return isinstance(value, (dict, list, set)) and not value


def _is_unchanged(now: Any, value: Any, was: Any) -> bool:
    """Returns True if an attribute is unchanged since it was recorded."""
    if now is value and (was is None or was is _EMPTY and not now):
        return True
    if was is _EMPTY:
        return type(now) is type(value) and not now
    return (
        now is not _MISSING
        and value is not _MISSING
        and take_snapshot(now) == (take_snapshot(value) if was is None else was)
    )


class AttributeReadRecorder:
    """Records the attributes of modules that are read while this context is active. Afterwards are_current() detects changes."""

    def __init__(self, names: Mapping[torch.nn.Module, str], others: Iterable[Any] = ()):
        self._names, self._others = dict(names), list(others)
        self._thread = 0
        #: For each module and attribute that was read: the value, and its snapshot, or None if it is sufficient to compare the value by identity.
        self._seen: dict[torch.nn.Module, dict[str, tuple[Any, Any]]] = {
            module: {} for module in names
        }
        self._before: dict[torch.nn.Module, dict[str, Any]] = {}
        self._tables: dict[torch.nn.Module, dict[str, dict[str, Any]]] = {}
        self._outside: Any = None

    def __enter__(self) -> AttributeReadRecorder:
        self._thread = threading.get_ident()
        self._before = {module: dict(module.__dict__) for module in self._names}
        self._tables = {
            module: {
                table: dict(module.__dict__[table])
                for table in ("_parameters", "_buffers", "_modules")
            }
            for module in self._names
        }
        self._outside = self._frozen_outside()
        nn_module.Module.__getattribute__ = self._recorder()  # type: ignore[method-assign]
        return self

    def __exit__(self, error: Any, *_: Any) -> None:
        del nn_module.Module.__getattribute__
        try:
            if error is None:
                self._check_changes()
        finally:
            for module, before in self._before.items():
                for name in [*module.__dict__]:
                    if name not in before:
                        del module.__dict__[name]
                module.__dict__.update(
                    {
                        name: value
                        for name, value in before.items()
                        if name not in ("_parameters", "_buffers", "_modules")
                    }
                )
            self._before, self._tables = {}, {}

    def _recorder(self) -> Any:
        """Returns the replacement of Module.__getattribute__ that records reads."""
        plain, seen = object.__getattribute__, self._seen

        def __getattribute__(module: torch.nn.Module, name: str) -> Any:
            if (
                threading.get_ident() == self._thread
                and name not in MANAGED
                and not name.startswith("__")
            ):
                found = seen.get(module)
                if found is not None and name not in found:
                    self._record(module, name, found)
            return plain(module, name)

        return __getattribute__

    def _record(
        self, module: torch.nn.Module, name: str, found: dict[str, tuple[Any, Any]]
    ) -> None:
        if object.__getattribute__(module, "__dict__").get(name, _MISSING) is not self._before[
            module
        ].get(name, _MISSING):
            return  # the module assigned the attribute before reading it, so the value is not an input
        value = _get_static_attribute(module, name)
        if value is _MISSING and any(
            name in object.__getattribute__(module, "__dict__")[table]
            for table in ("_parameters", "_buffers", "_modules")
        ):
            return
        found[name] = (
            value,
            None
            if _is_immutable(value)
            else _EMPTY
            if _is_empty_container(value)
            else take_snapshot(value),
        )

    def _check_changes(self) -> None:
        """Rejects attributes that forward reads and then changes: a compiled step would use the first value forever."""
        if self._outside != self._frozen_outside():
            raise UnsupportedError(
                "the loss changes a value outside of it, which a compiled step cannot repeat; required: values that do not change; store the value in a buffer of a loss module"
            )
        for module, seen in self._seen.items():
            for name, (value, was) in seen.items():
                if _is_unchanged(now := _get_static_attribute(module, name), value, was):
                    continue
                if now is value and not isinstance(value, (dict, list, set)):
                    # The object modified itself, such as one that is initialized at its first call; its snapshot is taken again.
                    seen[name] = (value, take_snapshot(value))
                    continue
                where = ".".join(each for each in (self._names[module], name) if each)
                raise UnsupportedError(
                    f"the module's forward reads and changes its attribute '{where}', which a compiled step cannot repeat; required: attributes that do not change, "
                    "and buffers for values that change; hold it in a tensor, as in self.register_buffer(name, tensor)"
                )

    def assigned(self) -> Iterator[tuple[str, dict[str, Any], str, Any]]:
        """Iterates over the parameters, buffers and submodules that forward has assigned: their name, the module's table, the key, and the previous value."""
        for module, tables in self._tables.items():
            for table, before in tables.items():
                now = object.__getattribute__(module, "__dict__")[table]
                for key in {**before, **now}:
                    if now.get(key) is not before.get(key):
                        yield (
                            ".".join(each for each in (self._names[module], key) if each),
                            now,
                            key,
                            before.get(key),
                        )

    def _frozen_outside(self) -> Any:
        hooks = tuple(
            take_snapshot(hooks) if (hooks := getattr(nn_module, name)) else None
            for name in GLOBAL_HOOKS
        )
        return hooks, tuple(take_snapshot(each) for each in self._others)

    def are_current(self) -> bool:
        for module, attributes in self._seen.items():
            own = module.__dict__
            for name, (value, was) in attributes.items():
                now = own.get(name, _MISSING)
                if not _is_unchanged(
                    _get_static_attribute(module, name) if now is _MISSING else now, value, was
                ):
                    return False
        return self._outside == self._frozen_outside()
