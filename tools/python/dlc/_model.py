"""dlc.Model: a callable model."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from dlc import _notebook_html, _runtime
from dlc._option_checks import check_input_shapes, require_threads
from dlc._path_checks import require_file, require_writable_path
from dlc._profile import Profile, make_random_inputs, measure_profile

if TYPE_CHECKING:
    from dlc._compile import Compiler


class CallReport(NamedTuple):
    """How the last call of a model used memory and streams.

    copies: inputs and outputs that were copied, as (name, bytes, reason). stream: handle of the stream in which the program ran, or None if it ran in
    streams of its own. waited: whether the host has waited for the results. graph_launches: number of launches of captured graphs in all calls so far.
    """

    copies: list[tuple[str, int, str]]
    stream: int | None
    waited: bool
    graph_launches: int

    def __str__(self) -> str:
        lines = [
            f"copied {name}: {size} bytes, because the array was {reason}"
            for name, size, reason in self.copies
        ] or ["no array was copied"]
        lines.append(
            "ran in streams of its own"
            if self.stream is None
            else f"ran in stream {self.stream:#x}"
        )
        lines.append("the host waited for the results" if self.waited else "the host did not wait")
        return "\n".join([*lines, f"{self.graph_launches} graph launches so far"])


class Model(_runtime.Runner):
    """A compiled model, created by dlc.compile and dlc.load.

    net(x), net(x, mask=m): inputs by position and by name; returns an array, or a tuple in the order of `net.outputs` if there are several outputs.
    net.run({"x": x}): inputs by name, also names that are not valid identifiers; returns all outputs by name.

    net(x, stream=s), net.run({"x": x}, stream=s): for a model on a GPU, the stream in which the program runs: a handle, or a stream object of PyTorch or
    CuPy. By default it is PyTorch's current stream for PyTorch's tensors, and otherwise the stream of dlc.set_current_stream or the device's default stream.
    The call returns before the results are computed. Later work in the same stream may use them without synchronization.

    Inputs are arrays on the model's device or in host memory: NumPy's, PyTorch's, dlc's (dlc.to), or of any type with `__dlpack__`. They are read in place.
    Arrays that are not contiguous are copied first, as are arrays in host memory for a model on a GPU (`net.report()`). Read-only arrays are accepted.
    Outputs are new arrays of the same library as the first input, which the program writes directly:
    NumPy arrays for NumPy, tensors for PyTorch, and for other libraries the result of `__array_namespace__().from_dlpack` on a NumPy array.

    Thread-safe; calls of one program are serialized, and the GIL is released while a program runs. A forked process calls the model
    with sessions of its own.

    Raises TypeError for an unknown name, a wrong number of inputs or a wrong element type, ValueError for a wrong shape or device, RuntimeError for
    errors while the program runs (such as an index out of range).
    """

    #: Descriptions of the inputs and outputs in order, each with name, dtype, shape and device.
    inputs: list[_runtime.Value]
    outputs: list[_runtime.Value]
    _compiler: Compiler | None = None

    def __init__(
        self,
        inputs: list[_runtime.Value],
        outputs: list[_runtime.Value],
        *,
        compiler: Compiler | None = None,
        sessions: Sequence[_runtime.Session] = (),
    ):
        super().__init__(inputs, outputs)
        self._compiler = compiler
        for session in reversed(sessions):
            self._add(session)

    def _make(
        self, shapes: Mapping[str, Sequence[int]], values: Mapping[str, tuple[str, bytes]]
    ) -> _runtime.Session:
        """Compiles a session for these shapes. Called from C++ if there is no session for them."""
        if self._compiler is None:
            given = ", ".join(f"{name} {list(shape)}" for name, shape in shapes.items())
            here = [_format_input_shapes(session) for session in self._sessions]
            if given in here:
                raise ValueError(
                    f"no program for these values of the inputs that determine shapes ({given}): the programs are for other values; compile the model for these values"
                )
            raise ValueError(
                f"no program for {given}; the programs are for {'; '.join(here)}; compile the model for these shapes"
            )
        return self._compiler.session(shapes, values)

    def prepare(self, shapes: Mapping[str, Sequence[int]] | None = None) -> None:
        """Compiles for these input shapes now instead of at the first call. Inputs with a static shape may be omitted."""
        if self._compiler is None:
            raise ValueError(
                "the model is already compiled; required: a model that dlc.compile made from .onnx or .mlir"
            )
        self._add(self._compiler.session({} if shapes is None else check_input_shapes(shapes), {}))

    def _one(self, shapes: Mapping[str, Sequence[int]] | None, doing: str) -> _runtime.Session:
        """Returns the session for these input shapes, or the only session if no shapes are given."""
        sessions = self._sessions
        if shapes is not None and self._compiler is not None:
            self.prepare(shapes)
            return self._sessions[0]
        if shapes is not None or len(sessions) != 1:
            found = "; ".join(map(_format_input_shapes, sessions)) or "none"
            raise ValueError(
                f"{doing}: required: one program; found: {found}; name the shapes, as in shapes={{'x': (1, 3, 224, 224)}}"
            )
        return sessions[0]

    def save(
        self, path: str | os.PathLike[str], *, shapes: Mapping[str, Sequence[int]] | None = None
    ) -> None:
        """Writes the program to an artifact file (.dlcx), atomically; dlc.load, `dlc run` and the C interface read it.

        shapes: selects the program if there are several; it is compiled if necessary.

        Raises OSError for the path, ValueError if the program is ambiguous.
        """
        path = os.fspath(path)
        require_writable_path(path)
        self._one(shapes, "save").save(path)

    def profile(self, *arrays: Any, repeat: int = 10, **named: Any) -> Profile:
        """Runs the model `repeat` times and returns the work and the time of each command in the fastest run, as a table.

        Inputs are passed as in a call. Without inputs random ones are used (floats in [-1, 1), integers 0 or 1); this requires a model with one program.
        """
        if not isinstance(repeat, int) or repeat < 1:
            raise ValueError(f"repeat: required: a number of runs, at least 1; found: {repeat!r}")
        if not arrays and not named and self.inputs:
            named = make_random_inputs(self._one(None, "profile"))
        else:
            named = {**{value.name: array for value, array in zip(self.inputs, arrays)}, **named}
        return measure_profile(self, named, repeat)

    def report(self) -> CallReport:
        """Returns the arrays that the last call has copied, with the reasons, the stream in which the call ran, and whether the host has waited."""
        launches = sum(session.graph_launches for session in self._sessions)
        return CallReport(*self._last_call, launches)

    @property
    def memory(self) -> dict[str, int]:
        """Memory use in bytes of the most recently used program: arena, scratch, constants, code, state."""
        return self._sessions[0].memory if self._sessions else {}

    def __repr__(self) -> str:
        inputs, outputs = (", ".join(map(repr, these)) for these in (self.inputs, self.outputs))
        return f"<dlc.Model ({inputs}) -> ({outputs}), {len(self._sessions)} programs>"

    def _repr_html_(self) -> str:
        return _notebook_html.model_html(self)

    def __reduce__(self) -> tuple[Any, ...]:
        sessions = self._sessions
        if not sessions:
            raise ValueError(
                "the model is not compiled yet, so that there is nothing to pickle; call it, or pass shapes to dlc.compile"
            )
        if any(session.has_state for session in sessions):
            raise ValueError(
                "the program has state, which a pickle would not contain; save the program and load it instead"
            )
        values = [
            [(v.name, v.dtype, v.shape, v.device) for v in these]
            for these in (self.inputs, self.outputs)
        ]
        return _restore, (
            type(self),
            values,
            [_serialize_session(session) for session in sessions],
            sessions[0].threads,
        )

    def __copy__(self) -> Model:
        """Returns a model that shares the programs, their memory and their state with this one."""
        return type(self)(
            self.inputs, self.outputs, compiler=self._compiler, sessions=self._sessions
        )

    def __deepcopy__(self, memo: dict[int, Any]) -> Model:
        """Returns a model with its own memory and state, so that both models can be called in parallel; code and constants are immutable and shared."""
        return type(self)(
            self.inputs,
            self.outputs,
            compiler=self._compiler,
            sessions=[session.again() for session in self._sessions],
        )


def load(path: str | os.PathLike[str], *, threads: int = 0) -> Model:
    """Loads an artifact file (.dlcx). Constants and code are mapped and read on demand.

    threads: number of threads for a call; 0: as many as it was compiled for, at most those of the machine.

    Raises OSError for the path, ValueError for a file that is damaged or not an artifact, RuntimeError if this machine lacks a feature that the program needs.
    """
    path = os.fspath(path)
    require_file(path, "a compiled program (.dlcx)")
    require_threads(threads)
    session = _runtime.Session.load(path, threads)
    return Model(session.inputs, session.outputs, sessions=[session])


def _format_input_shapes(session: _runtime.Session) -> str:
    return ", ".join(f"{value.name} {list(value.shape or ())}" for value in session.inputs)


def _serialize_session(session: _runtime.Session) -> bytes:
    with tempfile.TemporaryDirectory(prefix="dlc-") as folder:
        path = os.path.join(folder, "program.dlcx")
        session.save(path)
        with open(path, "rb") as file:
            return file.read()


def _restore(
    kind: type[Model], values: list[list[tuple[Any, ...]]], programs: list[bytes], threads: int
) -> Model:
    inputs, outputs = ([_runtime.Value(*fields) for fields in these] for these in values)
    return kind(
        inputs, outputs, sessions=[_runtime.Session.from_bytes(data, threads) for data in programs]
    )
