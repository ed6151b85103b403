"""A model that can be called."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dlc import _html, _runtime
from dlc._files import require_file, require_target
from dlc._options import require_threads, sizes_of
from dlc._profile import Profile, random_arrays, watch

if TYPE_CHECKING:
    from dlc._compile import Compiler


class Model(_runtime.Runner):
    """A compiled model; dlc.compile and dlc.load make it.

    net(x), net(x, mask=m): inputs by place and by name; one output as an array, several as a tuple in the order of `net.outputs`.
    net.run({"x": x}): inputs by names of any form; all outputs by name.

    Inputs are arrays in the host's memory: NumPy's, PyTorch's, or of anything with `__dlpack__`. They are read where they are. Those that are not
    contiguous are copied first; read-only ones are fine. Outputs are new arrays of the kind of the first input, which the program writes directly:
    NumPy's for NumPy's, PyTorch's for PyTorch's, for others what their `__array_namespace__` makes of a NumPy array.

    Any thread may call; calls of one program take turns, and the interpreter is free for other threads meanwhile. A forked process calls the model
    on sessions of its own.

    Raises TypeError for a name, a number of inputs or an element type that is not the model's, ValueError for a shape or a device, RuntimeError for
    what goes wrong while it runs (an index out of range).
    """

    #: Its inputs and outputs in order, each with name, dtype, shape and device.
    inputs: list[_runtime.Value]
    outputs: list[_runtime.Value]
    _compiler: Compiler | None = None

    def __init__(self, inputs: list[_runtime.Value], outputs: list[_runtime.Value], *, compiler: Compiler | None = None, sessions: Sequence[_runtime.Session] = ()):
        super().__init__(inputs, outputs)
        self._compiler = compiler
        for session in reversed(sessions):
            self._add(session)

    def _make(self, shapes: Mapping[str, Sequence[int]], values: Mapping[str, tuple[str, bytes]]) -> _runtime.Session:
        """Called from C++ where no session is for these shapes."""
        if self._compiler is None:
            given = ", ".join(f"{name} {list(shape)}" for name, shape in shapes.items())
            here = [_shapes(session) for session in self._sessions]
            if given in here:
                raise ValueError(f"no program for these values of the inputs that decide about shapes ({given}): those here are for other values; compile the model for these")
            raise ValueError(f"no program for {given}; those here are for {'; '.join(here)}; compile the model for these shapes")
        return self._compiler.session(shapes, values)

    def prepare(self, shapes: Mapping[str, Sequence[int]] | None = None) -> None:
        """Compiles for these shapes now rather than at the first call; inputs whose shape is static may be left out."""
        if self._compiler is None:
            raise ValueError("the model is compiled already; required: one that dlc.compile made of .onnx or .mlir")
        self._add(self._compiler.session({} if shapes is None else sizes_of(shapes), {}))

    def _one(self, shapes: Mapping[str, Sequence[int]] | None, doing: str) -> _runtime.Session:
        """The session for these shapes, or the only one."""
        sessions = self._sessions
        if shapes is not None and self._compiler is not None:
            self.prepare(shapes)
            return self._sessions[0]
        if shapes is not None or len(sessions) != 1:
            found = "; ".join(map(_shapes, sessions)) or "none"
            raise ValueError(f"{doing}: required: one program; found: {found}; name the shapes, as in shapes={{'x': (1, 3, 224, 224)}}")
        return sessions[0]

    def save(self, path: str | os.PathLike[str], *, shapes: Mapping[str, Sequence[int]] | None = None) -> None:
        """Writes the program as an artefact (.dlcx), whole or not at all; dlc.load, `dlc run` and the C interface open it.

        shapes: of which program, where there are several; compiled where it is not there yet.
        Raises OSError for the path, ValueError where it is open which program is meant.
        """
        path = os.fspath(path)
        require_target(path)
        self._one(shapes, "save").save(path)

    def profile(self, *arrays: Any, repeat: int = 10, **named: Any) -> Profile:
        """Runs the model `repeat` times and returns what each command did and how long it took, as a table: of the run that took least.

        Inputs are given as in a call; without any they are random (floats in [-1, 1), integers 0 or 1), which needs a model with one program.
        """
        if not isinstance(repeat, int) or repeat < 1:
            raise ValueError(f"repeat: required: a number of runs, at least 1; found: {repeat!r}")
        if not arrays and not named and self.inputs:
            named = random_arrays(self._one(None, "profile"))
        else:
            named = {**{value.name: array for value, array in zip(self.inputs, arrays)}, **named}
        return watch(self, named, repeat)

    @property
    def memory(self) -> dict[str, int]:
        """Bytes of the program that was used last: arena, scratch, constants, code, state."""
        return self._sessions[0].memory if self._sessions else {}

    def __repr__(self) -> str:
        inputs, outputs = (", ".join(map(repr, these)) for these in (self.inputs, self.outputs))
        return f"<dlc.Model ({inputs}) -> ({outputs}), {len(self._sessions)} programs>"

    def _repr_html_(self) -> str:
        return _html.model(self)

    def __reduce__(self) -> tuple[Any, ...]:
        sessions = self._sessions
        if not sessions:
            raise ValueError("the model is not compiled yet, so there is nothing to pickle; call it, or give dlc.compile the shapes")
        if any(session.has_state for session in sessions):
            raise ValueError("the program has state, which a pickle would not hold; save it and load it where it is needed")
        values = [[(v.name, v.dtype, v.shape, v.device) for v in these] for these in (self.inputs, self.outputs)]
        return _restore, (type(self), values, [_bytes(session) for session in sessions], sessions[0].threads)

    def __copy__(self) -> Model:
        """Shares the programs, their memory and their state."""
        return type(self)(self.inputs, self.outputs, compiler=self._compiler, sessions=self._sessions)

    def __deepcopy__(self, memo: dict[int, Any]) -> Model:
        """Memory and state of its own, so that calls of both run at once; code and constants, which never change, are shared."""
        return type(self)(self.inputs, self.outputs, compiler=self._compiler, sessions=[session.again() for session in self._sessions])


def load(path: str | os.PathLike[str], *, threads: int = 0) -> Model:
    """Loads an artefact (.dlcx). Constants and code stay in the file until they are used.

    threads: how many work for a call; 0: as many as it was compiled for, at most the machine's.
    Raises OSError for the path, ValueError for a file that is damaged or no artefact, RuntimeError where this machine lacks what the program needs.
    """
    path = os.fspath(path)
    require_file(path, "a compiled program (.dlcx)")
    require_threads(threads)
    session = _runtime.Session.load(path, threads)
    return Model(session.inputs, session.outputs, sessions=[session])


def _shapes(session: _runtime.Session) -> str:
    return ", ".join(f"{value.name} {list(value.shape or ())}" for value in session.inputs)


def _bytes(session: _runtime.Session) -> bytes:
    with tempfile.TemporaryDirectory(prefix="dlc-") as folder:
        path = os.path.join(folder, "program.dlcx")
        session.save(path)
        with open(path, "rb") as file:
            return file.read()


def _restore(kind: type[Model], values: list[list[tuple[Any, ...]]], programs: list[bytes], threads: int) -> Model:
    inputs, outputs = ([_runtime.Value(*fields) for fields in these] for these in values)
    return kind(inputs, outputs, sessions=[_runtime.Session.from_bytes(data, threads) for data in programs])
