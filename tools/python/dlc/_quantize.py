"""From an ONNX model in f32 to one of eight bits, or with weights of four."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Union

from dlc._compile import Source, _compiling, _Source
from dlc._files import require_target
from dlc._options import require_number, require_size, require_texts, require_threads
from dlc._progress import Progress, shown
from dlc._text import aligned, scaled

#: Arrays by inputs, or the only input's; samples along the first dimension. Or several such, one after another.
Data = Union[Mapping[str, Any], Any, Iterable[Union[Mapping[str, Any], Any]]]


class Layer(NamedTuple):
    """A convolution or a product by constant weights, and what became of it.

    shape: of its weights. becomes: `int8`, `int4` or `f32`. snr_db: how much stronger its results are than what changes in them when it alone is
    quantised, in dB (6 dB are one bit); None where nothing was measured. why: why it stays in f32.
    """

    name: str
    shape: tuple[int, ...]
    becomes: str
    snr_db: float | None
    why: str


class Output(NamedTuple):
    """What an output of the model is after quantising: its signal to noise in dB, and of how many rows in a hundred the largest element stays the same."""

    name: str
    snr_db: float
    same_largest_percent: float


class QuantizeReport:
    """What dlc.quantize made of a model; printed, a table.

    path: the file. layers, outputs: each with what it loses; outputs are empty without data. samples: with how many it was calibrated; samples_left:
    those at the end that made no whole batch. bytes_before, bytes_after: of the model.
    """

    def __init__(self, path: str, layers: list[Layer], outputs: list[Output], samples: int, samples_left: int, bytes_before: int, bytes_after: int):
        self.path, self.layers, self.outputs = path, layers, outputs
        self.samples, self.samples_left = samples, samples_left
        self.bytes_before, self.bytes_after = bytes_before, bytes_after

    def __repr__(self) -> str:
        lines = [
            [each.name, "x".join(map(str, each.shape)), "-" if each.snr_db is None else f"{each.snr_db:.1f}", each.becomes + (f" ({each.why})" if each.why else "")]
            for each in self.layers
        ]
        quantised = sum(not each.why for each in self.layers)
        before, after = (scaled(size, "B", 1024) for size in (self.bytes_before, self.bytes_after))
        text = aligned(["layer", "weights", "SNR (dB)", "becomes"], lines, {"layer", "weights", "becomes"})
        text.append(f"{quantised} of {len(self.layers)} layers quantised; {before} before, {after} after")
        for output in self.outputs:
            text.append(f"output '{output.name}': SNR {output.snr_db:.1f} dB, the largest element of a row the same in {output.same_largest_percent:.2f} %")
        if self.samples_left:
            text.append(f"{self.samples_left} samples at the end make no whole batch and were left out")
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
    """Writes an ONNX model of eight bits (QuantizeLinear and DequantizeLinear, which other runtimes take too) made of one in f32, and says what is lost.

    model: the path of an .onnx file, its bytes, or an onnx.ModelProto; in f32, of opset 13 or later.
    data: what the model will be given, a hundred samples or so: arrays by the names of inputs, with samples along the first dimension, {"x": f32[100, 3,
        224, 224]}; of a model with one input, the array alone; or an iterable of such dicts or arrays, batches of any sizes. Element types are the
        model's. None: weights alone are quantised, values stay in f32.
    output: the path of the ONNX file to write.
    weights: `int8` with a scale for each channel; `int4` with one for each block and values in f32 (products; convolutions stay in f32).
    block: of int4: so many weights have one scale; a power of two from 16 on.
    ranges: how scales of values follow from the data: `mse` (least square error), `minmax` (all that was seen), `percentile` (all but outliers), `entropy`.
    percentile: of `percentile`: so many of a hundred values lie within, at each end; 50 to 100.
    keep: patterns of names or kinds of layers that stay in f32; `*` any characters, `?` one.
    least_snr: in dB: layers that lose more stay in f32.
    threads: how many work; 0: as many as the process may use.
    progress: called with what is done, and how many batches of how many; False for nothing. Otherwise a bar, as in dlc.compile.

    Raises FileNotFoundError and other OSErrors for paths; TypeError for element types that dlc lacks; ValueError for a model that cannot be quantised, for
    data that is not as its inputs are, and for options. Where it raises, nothing is written. Ctrl-C ends it, with KeyboardInterrupt.
    """
    require_texts(weights=weights, ranges=ranges)
    require_threads(threads)
    require_number("block", block, 1, 1 << 30)
    require_size("percentile", percentile, 0)
    require_size("least_snr", least_snr, float("-inf"))
    patterns = [keep] if isinstance(keep, str) else list(keep)
    for pattern in patterns:
        require_texts(keep=pattern)
    path = os.fspath(output)
    require_target(path)
    source = _Source(model)
    arrays = None if data is None else _arrays_of(data)
    given = None if arrays is None else [(name, _type_of(array), array.shape, array.ctypes.data) for name, array in arrays.items()]
    from dlc import _compiler

    with _compiling, shown(progress) as show:
        layers, outputs, *figures = _compiler.quantize(source.path, given, path, weights, block, ranges, percentile, patterns, least_snr, threads, show)
    made = [Layer(name, tuple(shape), "f32" if why else weights, snr, why) for name, shape, why, snr in layers]
    return QuantizeReport(path, made, [Output(*each) for each in outputs], *figures)


def _arrays_of(data: Any) -> dict[str, Any]:
    """NumPy's arrays by name, in C's order; an array without a name has the empty one."""
    import numpy

    def named(batch: Any) -> dict[str, Any]:
        return {name: numpy.asarray(array) for name, array in (batch.items() if isinstance(batch, Mapping) else [("", batch)])}

    if isinstance(data, Mapping) or hasattr(data, "__array__") or hasattr(data, "__dlpack__"):
        joined = named(data)
    elif isinstance(data, Iterable) and not isinstance(data, (str, bytes)):
        joined = _joined([named(batch) for batch in data])
    else:
        raise TypeError(f"data: required: arrays by the names of inputs, as in {{'x': array}}, an iterable of those, or None; found: {data!r}")
    for name in joined:
        if not isinstance(name, str):
            raise TypeError(f"data: required: names of inputs as keys; found: {name!r}")
    return {name: numpy.ascontiguousarray(array, array.dtype.newbyteorder("=")).reshape(array.shape) for name, array in joined.items()}


def _joined(batches: list[dict[str, Any]]) -> dict[str, Any]:
    import numpy

    if not batches:
        raise ValueError("data: required: at least one batch; found: none")
    for i, batch in enumerate(batches):
        for name, array in batches[0].items():
            if batch.keys() != batches[0].keys():
                raise ValueError(f"data: batch {i}: required: the arrays of the first batch, {list(batches[0])}; found: {list(batch)}")
            if batch[name].shape[1:] != array.shape[1:] or batch[name].ndim != array.ndim or batch[name].dtype != array.dtype:
                raise ValueError(
                    f"data: batch {i}: array '{name}': required: {array.dtype} {array.shape} as in the first batch, but for the first dimension; "
                    f"found: {batch[name].dtype} {batch[name].shape}"
                )
            if array.ndim == 0 and batch[name] != array:
                raise ValueError(f"data: batch {i}: array '{name}' has no dimension for samples; required: {array}, as in the first batch; found: {batch[name]}")
    return {name: numpy.concatenate([batch[name] for batch in batches]) if array.ndim else array for name, array in batches[0].items()}


def _type_of(array: Any) -> str:
    """dlc's name of its element type, where there is one."""
    name: str = array.dtype.name
    for long, short in (("bfloat", "bf"), ("float", "f"), ("uint", "u"), ("int", "i")):
        if name.startswith(long):
            return short + name[len(long) :]
    return name
