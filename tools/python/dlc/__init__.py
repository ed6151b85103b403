"""dlc: a graph compiler for deep learning.

    import dlc
    net = dlc.compile("model.onnx")     # .onnx, .mlir, a compiled .dlcx, or such a file's bytes
    y = net(x)                          # NumPy, PyTorch or whatever has __dlpack__; y is of x's kind
    net.save("model.dlcx")              # one file: code, constants and plan
    net = dlc.load("model.dlcx")        # runs without the compiler
    net = dlc.compile(module, (x,))     # a torch.nn.Module
    model = torch.compile(module, backend="dlc")
    step = dlc.train_step(module, loss, optimizer)      # a whole training step as one program
    step = dlc.train_step(.., data_parallel=True)       # in several processes: mpirun, srun, torchrun
    dlc.quantize("model.onnx", {"x": samples}, "model-int8.onnx")   # a model of eight bits

Errors are Python's own exceptions; the message says what was required, what was found, and how to mend it: ValueError for models, shapes, options and
damaged files, TypeError for element types and names of inputs, FileNotFoundError and its kin for paths, RuntimeError for what goes wrong while a program
runs, MemoryError.
"""

from dlc import _load  # isort: skip; finds the libraries
from dlc import _runtime
from dlc._compile import compile
from dlc._devices import Device, devices
from dlc._model import Model, load
from dlc._profile import Profile
from dlc._quantize import QuantizeReport, quantize
from dlc._report import report
from dlc._train import train_step
from dlc._world import World, world

__version__: str = _runtime.version()
__all__ = ["Device", "Model", "Profile", "QuantizeReport", "World", "compile", "devices", "load", "quantize", "report", "train_step", "world"]
