"""The PyTorch device `emulated`: tensors in the memory of the emulated GPU, and work in its streams, so that CUDA's code path runs without a GPU.

`$DLC_TORCH_DEVICE` is the library of torch_device/; `$DLC_CUDA_DRIVER` must name the emulated driver before dlc or this module opens it. Operators of
eager PyTorch run on the CPU, and copy their operands and results."""

import contextlib
import ctypes
import os
import types

import torch

import dlc
from dlc._torch import device_kinds

NAME = "emulated"


def register():
    """Registers the device with PyTorch and dlc. Returns the module torch.emulated."""
    if hasattr(torch, NAME):
        return getattr(torch, NAME)
    library = ctypes.CDLL(os.environ["DLC_TORCH_DEVICE"], mode=ctypes.RTLD_GLOBAL)
    library.dlc_torch_device_stream.restype = ctypes.c_uint64
    torch.utils.rename_privateuse1_backend(NAME)
    module = _make_module(library)
    torch._register_device_module(NAME, module)
    torch.utils.generate_methods_for_privateuse1_backend(for_storage=True)
    _register_with_dynamo(module)
    # PyTorch's DLPack exchange reports devices of this type as kDLExtDev.
    dlc._runtime.map_extension_devices("cuda")
    device_kinds.KINDS[NAME] = device_kinds.KINDS["cuda"]
    return module


def _index(device):
    if device is None:
        return torch.accelerator.current_device_index()
    if isinstance(device, int):
        return device
    index = torch.device(device).index
    return torch.accelerator.current_device_index() if index is None else index


def _make_module(library):
    """Returns the module torch.emulated, with the functions of torch.cuda that PyTorch and dlc call."""
    module = types.ModuleType(f"torch.{NAME}")

    def memory():
        counts = (ctypes.c_int64 * 4)()
        library.dlc_torch_device_memory(counts)
        return list(counts)

    @contextlib.contextmanager
    def stream(chosen):
        before = torch.accelerator.current_stream()
        torch.accelerator.set_stream(chosen)
        try:
            yield
        finally:
            torch.accelerator.set_stream(before)

    module.device_count = library.dlc_torch_device_count
    module.current_device = library.dlc_torch_device_current
    module.set_device = lambda device: library.dlc_torch_device_set(_index(device))
    module.is_available = lambda: True
    module.is_initialized = lambda: True
    module._is_in_bad_fork = lambda: False
    module.init = module._lazy_init = lambda: None
    module.get_amp_supported_dtype = lambda: [torch.float16, torch.bfloat16]
    module.is_bf16_supported = lambda *_: True
    module.get_rng_state = lambda device=None: torch.get_rng_state()
    module.set_rng_state = lambda state, device=None: torch.set_rng_state(state)
    module.manual_seed = module.manual_seed_all = lambda seed: torch.default_generator.manual_seed(
        seed
    )
    module.synchronize = lambda device=None: torch.accelerator.synchronize(_index(device))
    module.current_stream = lambda device=None: torch.accelerator.current_stream(_index(device))
    module.stream = stream
    module.Stream = lambda: torch.Stream(torch.device(NAME))
    module.Event = lambda: torch.Event(torch.device(NAME))
    #: Handle of the driver's current stream.
    module.stream_handle = lambda device=None: library.dlc_torch_device_stream(_index(device))
    module.memory_allocated = lambda device=None: memory()[0]
    module.max_memory_allocated = lambda device=None: memory()[1]
    module.memory_reserved = lambda device=None: memory()[2]
    module.allocations = lambda: memory()[3]
    return module


def _register_with_dynamo(module):
    from torch._dynamo.device_interface import DeviceInterface, register_interface_for_device

    class Interface(DeviceInterface):
        current_device = staticmethod(module.current_device)
        set_device = staticmethod(module.set_device)
        device_count = staticmethod(module.device_count)
        is_available = staticmethod(module.is_available)
        synchronize = staticmethod(module.synchronize)
        current_stream = staticmethod(module.current_stream)
        is_bf16_supported = staticmethod(module.is_bf16_supported)

    register_interface_for_device(NAME, Interface)
    for i in range(module.device_count()):
        register_interface_for_device(f"{NAME}:{i}", Interface)
