"""dlc.quantize: quantizes an f32 ONNX model to 8 bits, or its weights to 4 bits."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Union

from dlc._compile import Source, _compiling, _Source
from dlc._option_checks import (
    require_finite_at_least,
    require_number,
    require_texts,
    require_threads,
)
from dlc._path_checks import require_writable_path
from dlc._progress import Progress, progress_callback
from dlc._text_tables import format_quantity, format_table

#: Calibration data: arrays by input name, or the array of the only input, with samples along the first dimension; or an iterable of such batches.
Data = Union[Mapping[str, Any], Any, Iterable[Union[Mapping[str, Any], Any]]]


class Layer(NamedTuple):
    """A convolution or a matmul with constant weights, and the result of its quantization.

    shape: shape of the weights. becomes: `int8`, `int4` or `f32`. snr_db: signal-to-noise ratio in dB of its result if only this layer is
    quantized (6 dB are one bit); None if it was not measured. why: reason why it remains in f32.
    """

    name: str
    shape: tuple[int, ...]
    becomes: str
    snr_db: float | None
    why: str


class Output(NamedTuple):
    """Error of a model output after quantization: signal-to-noise ratio in dB, and the percentage of rows whose argmax is unchanged (None if rows have one element)."""

    name: str
    snr_db: float
    same_largest_percent: float | None


class QuantizeReport:
    """Report of dlc.quantize; prints as a table.

    path: the output file. layers, outputs: with the loss of each; outputs are empty without data. samples: number of calibration samples; samples_left:
    unused samples at the end that do not fill a batch. bytes_before, bytes_after: size of the model.
    """

    def __init__(
        self,
        path: str,
        layers: list[Layer],
        outputs: list[Output],
        samples: int,
        samples_left: int,
        bytes_before: int,
        bytes_after: int,
    ):
        self.path, self.layers, self.outputs = path, layers, outputs
        self.samples, self.samples_left = samples, samples_left
        self.bytes_before, self.bytes_after = bytes_before, bytes_after

    def __repr__(self) -> str:
        lines = [
            [
                each.name,
                "x".join(map(str, each.shape)),
                "-" if each.snr_db is None else f"{each.snr_db:.1f}",
                each.becomes + (f" ({each.why})" if each.why else ""),
            ]
            for each in self.layers
        ]
        quantized = sum(not each.why for each in self.layers)
        before, after = (
            format_quantity(size, "B", 1024) for size in (self.bytes_before, self.bytes_after)
        )
        text = format_table(
            ["layer", "weights", "SNR (dB)", "becomes"], lines, {"layer", "weights", "becomes"}
        )
        text.append(
            f"{quantized} of {len(self.layers)} layers quantized; {before} before, {after} after"
        )
        for output in self.outputs:
            same = output.same_largest_percent
            text.append(
                f"output '{output.name}': SNR {output.snr_db:.1f} dB"
                + ("" if same is None else f", argmax of a row unchanged in {same:.2f} %")
            )
        if self.samples_left:
            text.append(
                f"{self.samples_left} samples at the end are less than a batch and were ignored"
            )
        return "\n".join(text)


def quantize(
    model: Source,
    data: Data | None,
    output: str | os.PathLike[str],
    *,
    weights: str = "int8",
    block: int = 32,
    ranges: str = "mse",
    percentile: float = 99.99,
    keep: str | Sequence[str] = (),
    least_snr: float = 15.0,
    threads: int = 0,
    progress: Progress | None = None,
) -> QuantizeReport:
    """Quantizes an f32 ONNX model to 8 bits, with QuantizeLinear and DequantizeLinear, which other runtimes support as well, and reports the loss.

    model: the path of an .onnx file, its bytes, or an onnx.ModelProto; in f32, of opset 13 or later.
    data: calibration data, about a hundred samples: arrays by input name, with samples along the first dimension, {"x": f32[100, 3, 224, 224]}; for a
        model with one input, the array alone; or an iterable of such dicts or arrays, in batches of any sizes. Element types must be the
        model's. None: only weights are quantized, values remain in f32.
    output: the path of the ONNX file to write.
    weights: `int8` with one scale per channel; `int4` with one scale per block and values in f32 (matmuls only; convolutions remain in f32).
    block: for int4: number of weights per scale; a power of two, at least 16.
    ranges: how scales of values are derived from the data: `mse` (least square error), `minmax` (full range), `percentile` (without outliers), `entropy`.
    percentile: for `percentile`: percentage of the values that are not clipped, at each end; 50 to 100.
    keep: patterns of names or operator types of layers that remain in f32; `*` matches any characters, `?` matches one.
    least_snr: layers with a lower signal-to-noise ratio, in dB, remain in f32.
    threads: number of threads; 0: all that the process may use.
    progress: called with the current activity and the number of finished and total batches; False disables it. By default a progress bar, as in dlc.compile.

    Raises FileNotFoundError and other OSErrors for paths; TypeError for unsupported element types; ValueError for a model that cannot be quantized, for
    data that does not match its inputs, and for invalid options. In case of an error nothing is written. Ctrl-C cancels with KeyboardInterrupt.
    """
    require_texts(weights=weights, ranges=ranges)
    require_threads(threads)
    require_number("block", block, 1, 1 << 30)
    require_finite_at_least("percentile", percentile, 0)
    require_finite_at_least("least_snr", least_snr, float("-inf"))
    patterns = [keep] if isinstance(keep, str) else list(keep)
    for pattern in patterns:
        require_texts(keep=pattern)
    path = os.fspath(output)
    require_writable_path(path)
    source = _Source(model)
    arrays = None if data is None else _to_named_arrays(data)
    given = (
        None
        if arrays is None
        else [
            (name, _element_type_name(array), array.shape, array.ctypes.data)
            for name, array in arrays.items()
        ]
    )
    from dlc import _compiler

    with _compiling, progress_callback(progress) as show:
        layers, outputs, *figures = _compiler.quantize(
            source.path,
            given,
            path,
            weights,
            block,
            ranges,
            percentile,
            patterns,
            least_snr,
            threads,
            show,
        )
    made = [
        Layer(name, tuple(shape), "f32" if why else weights, snr, why)
        for name, shape, why, snr in layers
    ]
    return QuantizeReport(path, made, [Output(*each) for each in outputs], *figures)


def _to_named_arrays(data: Any) -> dict[str, Any]:
    """Returns the calibration arrays by input name, as NumPy arrays in row-major order. An array without a name has the empty name."""
    import numpy

    def named(batch: Any) -> dict[str, Any]:
        return {
            name: numpy.asarray(array)
            for name, array in (batch.items() if isinstance(batch, Mapping) else [("", batch)])
        }

    if isinstance(data, Mapping) or hasattr(data, "__array__") or hasattr(data, "__dlpack__"):
        joined = named(data)
    elif isinstance(data, Iterable) and not isinstance(data, (str, bytes)):
        joined = _concatenate_batches([named(batch) for batch in data])
    else:
        raise TypeError(
            f"data: required: arrays by the names of inputs, as in {{'x': array}}, an iterable of those, or None; found: {data!r}"
        )
    for name in joined:
        if not isinstance(name, str):
            raise TypeError(f"data: required: names of inputs as keys; found: {name!r}")
    return {
        name: numpy.ascontiguousarray(array, array.dtype.newbyteorder("=")).reshape(array.shape)
        for name, array in joined.items()
    }


def _concatenate_batches(batches: list[dict[str, Any]]) -> dict[str, Any]:
    import numpy

    if not batches:
        raise ValueError("data: required: at least one batch; found: none")
    for i, batch in enumerate(batches):
        for name, array in batches[0].items():
            if batch.keys() != batches[0].keys():
                raise ValueError(
                    f"data: batch {i}: required: the arrays of the first batch, {list(batches[0])}; found: {list(batch)}"
                )
            if (
                batch[name].shape[1:] != array.shape[1:]
                or batch[name].ndim != array.ndim
                or batch[name].dtype != array.dtype
            ):
                raise ValueError(
                    f"data: batch {i}: array '{name}': required: {array.dtype} {array.shape} as in the first batch, but for the first dimension; "
                    f"found: {batch[name].dtype} {batch[name].shape}"
                )
            if array.ndim == 0 and batch[name] != array:
                raise ValueError(
                    f"data: batch {i}: array '{name}' has no dimension for samples; required: {array}, as in the first batch; found: {batch[name]}"
                )
    return {
        name: numpy.concatenate([batch[name] for batch in batches]) if array.ndim else array
        for name, array in batches[0].items()
    }


def _element_type_name(array: Any) -> str:
    """Returns dlc's name of an array's element type, or NumPy's name if dlc has none."""
    name: str = array.dtype.name
    for long, short in (("bfloat", "bf"), ("float", "f"), ("uint", "u"), ("int", "i")):
        if name.startswith(long):
            return short + name[len(long) :]
    return name
