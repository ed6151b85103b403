"""dlc: a graph compiler for deep learning.

    import dlc
    net = dlc.compile("model.onnx")     # .onnx, .mlir, a compiled .dlcx, or the bytes of such a file
    y = net(x)                          # x: an array of NumPy, PyTorch or any type with __dlpack__; y: of the same library
    net.save("model.dlcx")              # one file: code, constants and execution plan
    net = dlc.load("model.dlcx")        # runs without the compiler
    net = dlc.compile("model.onnx", device="cuda:0")    # takes and returns arrays on the GPU, in their stream
    x = dlc.to(x, "cuda:0")             # copies a NumPy array to the GPU; dlc.to(y, "cpu") copies back
    net = dlc.compile(module, (x,))     # a torch.nn.Module, with example inputs
    model = torch.compile(module, backend="dlc")
    net = dlc.from_jax(function, x)     # a JAX function, with example arguments
    step = dlc.train_step(module, loss, optimizer)      # a whole training step as one program
    step = dlc.train_step(.., data_parallel=True)       # in several processes: mpirun, srun, torchrun
    dlc.quantize("model.onnx", {"x": samples}, "model-int8.onnx")   # an 8-bit model

Errors are standard Python exceptions. The message says what was required, what was found, and how to fix it: ValueError for models, shapes, options and
damaged files, TypeError for element types and names of inputs, FileNotFoundError and other OSErrors for paths, RuntimeError for errors while a program
runs, MemoryError.
"""

from dlc import _gcc_libraries  # isort: skip  # noqa: F401  finds the libraries
from dlc import _runtime
from dlc._arrays import (
    DeviceArray,
    DeviceMemory,
    device_memory,
    empty,
    set_allocator,
    set_current_stream,
    synchronize,
    to,
)
from dlc._compile import compile
from dlc._devices import Device, devices
from dlc._jax import JaxModel, from_jax
from dlc._model import CallReport, Model, load
from dlc._profile import Profile
from dlc._quantize import QuantizeReport, quantize
from dlc._torch.graph_report import report
from dlc._training.train_step import train_step
from dlc._world import World, world

__version__: str = _runtime.version()
__all__ = [
    "CallReport",
    "Device",
    "DeviceArray",
    "DeviceMemory",
    "JaxModel",
    "Model",
    "Profile",
    "QuantizeReport",
    "World",
    "compile",
    "device_memory",
    "devices",
    "empty",
    "from_jax",
    "load",
    "quantize",
    "report",
    "set_allocator",
    "set_current_stream",
    "synchronize",
    "to",
    "train_step",
    "world",
]
