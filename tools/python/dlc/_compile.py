"""dlc.compile: compiles a model file to a dlc.Model. The compiler's library is loaded at the first compilation."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Union

from dlc import _runtime
from dlc._model import Model, load
from dlc._option_checks import check_input_shapes, require_texts, require_threads
from dlc._path_checks import require_file
from dlc._progress import Progress, progress_callback

Shapes = Mapping[str, Sequence[int]]
#: Type of a model argument: a path, the bytes of a file, or an onnx.ModelProto.
Source = Union[str, "os.PathLike[str]", bytes, bytearray, memoryview, Any]

# Serializes compilations, because each uses all its threads. A fork waits for a running compilation: the child could neither finish it nor use its locks.
_compiling = threading.RLock()
os.register_at_fork(
    before=_compiling.acquire, after_in_parent=_compiling.release, after_in_child=_compiling.release
)


def compile(
    model: Source,
    example_inputs: Any = None,
    *,
    device: str = "cpu",
    threads: int = 0,
    shapes: Shapes | None = None,
    precision: str = "none",
    accuracy: str = "default",
    nchwc_block: int = 0,
    progress: Progress | None = None,
) -> Model:
    """Compiles a model.

    A model whose input shapes are static, or given by `shapes`, is compiled now. Other models are compiled at the first call, for the shapes of
    that call; at most 16 programs, one for each set of shapes, are cached.

    model: the path of an .onnx, .mlir or .dlcx file, the bytes of one, an onnx.ModelProto, a torch.nn.Module or a torch.export.ExportedProgram. The
        weights of a module are captured now; later changes have no effect.
    example_inputs: for a torch.nn.Module: a tuple of tensors; the program is compiled for their shapes.
    device: the device of the model: `cpu`, `cuda:0`, `cpu:1`, ..; dlc.devices() lists them.
    threads: number of threads for a call; 0: all that the process may use.
    shapes: shapes by input name, {"x": (1, 3, 224, 224)}; inputs with a static shape may be omitted. An initializer that an ONNX model also lists as
        an input becomes an input if its shape is given, and a constant otherwise.
    precision: `none`, `bf16` or `f16`: matmuls and convolutions take 16-bit operands and accumulate in f32; inputs and outputs keep their types.
    accuracy: `strict`: f32 sums as written; `default`: errors up to 2e-5 of the largest result; `fast`.
    nchwc_block: channels per block, 8 or 16, of the NCHWc operators in an ONNX file that ONNX Runtime has optimized: 16 if it was optimized on a processor
        with AVX-512, otherwise 8. Required only if the file permits both.
    progress: called with the current activity, and the number of finished and total items; False disables it. By default a progress bar is shown on
        terminals and in notebooks if compilation takes more than half a second.

    Raises FileNotFoundError and other OSErrors for the path, ValueError for a model, shape or option that dlc does not support, RuntimeError if this
    machine lacks a feature that the program needs. Ctrl-C cancels the compilation with KeyboardInterrupt; an exception raised by `progress` cancels it, too.
    """
    require_texts(device=device, precision=precision, accuracy=accuracy)
    require_threads(threads)
    if nchwc_block not in (0, 8, 16):
        raise ValueError(
            f"nchwc_block: required: 8 or 16, or 0 if the file determines it; found: {nchwc_block!r}"
        )
    if shapes is not None:
        shapes = check_input_shapes(shapes)
    source: Any = _torch_source(model, example_inputs) or _Source(model, nchwc_block)
    options = (device, threads, precision, accuracy)
    if source.is_program:
        if (device, precision, accuracy) != ("cpu", "none", "default") or shapes:
            raise ValueError(
                f"{source.path}: is already compiled; required: a model (.onnx, .mlir) for device, shapes, precision or accuracy; use the model from which it was made"
            )
        return source.load(threads)
    compiler = Compiler(source, options, progress)
    overridden = [value for value in compiler.defaults if value.name in (shapes or {})]
    made = Model(compiler.inputs + overridden, compiler.outputs, compiler=compiler)
    if shapes is not None:
        made.prepare(shapes)
    elif all(compiler.is_static(value) for value in made.inputs):
        try:
            made.prepare()
        except ValueError:
            # Shapes may depend on the values of integer inputs. The error is then ignored here, because the first call provides the values, or raises the same
            # error.
            if not any(value.dtype in ("i64", "i32") for value in made.inputs):
                raise
    return made


def _torch_source(model: Any, example_inputs: Any) -> Any:
    """Returns the compiler's source for a PyTorch module, or None for other models. If PyTorch is not loaded, no object is a module."""
    if "torch" in sys.modules:
        from dlc._torch import export

        if export.is_module(model):
            return export.make_graph_source(model, example_inputs)
    if example_inputs is not None:
        raise TypeError(
            f"example_inputs: required: a torch.nn.Module, which is exported with them; found: {type(model).__name__}"
        )
    return None


@contextlib.contextmanager
def _renamed(source: Any) -> Iterator[None]:
    """Replaces the path of a temporary file in error messages, because the caller has passed bytes instead of a path."""
    try:
        yield
    except (ValueError, RuntimeError) as error:
        path = getattr(source, "temporary", None)
        if path is None or path not in str(error) or type(error) not in (ValueError, RuntimeError):
            raise
        raise type(error)(
            str(error).replace(f"'{path}'", "the model").replace(path, "the model")
        ) from None


class Compiler:
    """The C++ object that compiles a model. It is created again in a forked process."""

    def __init__(self, source: Any, options: tuple[str, int, str, str], progress: Progress | None):
        self._source, self._options, self._progress, self._busy = source, options, progress, False
        device = options[0]
        with _compiling:
            self._open()
            self.inputs = [_runtime.Value(*fields, device) for fields in self._made.inputs]
            self.outputs = [_runtime.Value(*fields, device) for fields in self._made.outputs]
            self.defaults = [_runtime.Value(*fields, device) for fields in self._made.defaults]

    def _open(self) -> None:
        with _renamed(self._source):
            self._made, self._process = self._source.open(self._options), os.getpid()

    @staticmethod
    def is_static(value: _runtime.Value) -> bool:
        return value.shape is not None and all(isinstance(size, int) for size in value.shape)

    def session(self, shapes: Shapes, values: Mapping[str, tuple[str, bytes]]) -> _runtime.Session:
        with _compiling:
            if self._busy:
                raise RuntimeError(
                    "the model is being compiled; required: a `progress` (or a signal handler) that does not call the model"
                )
            if self._process != os.getpid():
                self._open()
            self._busy = True
            try:
                with progress_callback(self._progress) as show, _renamed(self._source):
                    made = self._made.session(
                        {name: list(shape) for name, shape in shapes.items()}, dict(values), show
                    )
            finally:
                self._busy = False
            return _runtime.Session.adopt(made)


class _Source:
    """A model file, or bytes that are written to a temporary file, which is deleted with this object."""

    #: Path of the temporary file, or None if the caller has passed a path.
    temporary: str | None = None
    _nchwc_block = 0

    def __init__(self, model: Source, nchwc_block: int = 0):
        self._nchwc_block = nchwc_block
        if hasattr(model, "SerializeToString"):
            model = model.SerializeToString()
        if isinstance(model, (bytes, bytearray, memoryview)):
            data = bytes(model)
            if 0 < len(data) < 4096 and data.isascii() and not any(c in data for c in b"\0\n("):
                raise ValueError(
                    f"model: required: the bytes of a model file; found: the text {data.decode()!r}; pass a path as a str"
                )
            self._write(data)
        elif isinstance(model, (str, os.PathLike)):
            self.path = os.fspath(model)
            require_file(self.path, "a model file (.onnx, .mlir, .dlcx)")
        else:
            raise TypeError(
                f"required: the path of a model file, its bytes, or an onnx.ModelProto; found: {type(model).__name__}; save the model as ONNX first"
            )
        self.is_program = self.path.endswith(".dlcx")

    def _write(self, data: bytes, suffix: str = "") -> None:
        self._process, self._folder = os.getpid(), tempfile.mkdtemp(prefix="dlc-")
        suffix = suffix or (
            ".dlcx"
            if data.startswith(b"DLCX\r\n\x1a\n")
            else ".onnx"
            if b"\0" in data[:4096] or not data.isascii()
            else ".mlir"
        )
        self.path = self.temporary = os.path.join(self._folder, "model" + suffix)
        with open(self.path, "wb") as file:
            file.write(data)

    def open(self, options: tuple[str, int, str, str]) -> Any:
        from dlc import _compiler

        return _compiler.Compiler(self.path, *options, nchwc_block=self._nchwc_block)

    def load(self, threads: int) -> Model:
        with _renamed(self):
            return load(self.path, threads=threads)

    def __del__(self) -> None:
        # A forked process must not delete its parent's temporary file.
        if getattr(self, "_process", None) == os.getpid():
            try:
                os.unlink(self.path)
                os.rmdir(self._folder)
            except OSError:
                pass
