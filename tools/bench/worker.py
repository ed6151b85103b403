#!/usr/bin/env python3
"""Runs one network with one tool in its own process, for requested durations.

worker.py TOOL MODEL THREADS INPUTS.npz [BATCH NETWORK]. Then each line of stdin, {"seconds": 0.5} or {"outputs": "file.npz"}, is answered by one line of
JSON.
"""

import ctypes
import importlib
import json
import os
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import common


def peak_mib():
    """Returns the peak memory of this process in MiB. getrusage is not used, because its value survives exec and may be the parent's."""
    with open("/proc/self/status") as f:
        return next(int(line.split()[1]) for line in f if line.startswith("VmHWM")) / 1024


class DLDevice(ctypes.Structure):
    _fields_ = [("device_type", ctypes.c_int), ("device_id", ctypes.c_int32)]


class DLDataType(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device", DLDevice),
        ("ndim", ctypes.c_int32),
        ("dtype", DLDataType),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class TensorInfo(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char_p),
        ("dtype", DLDataType),
        ("ndim", ctypes.c_int32),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("bytes", ctypes.c_uint64),
    ]


def dlc(model, threads, inputs):
    """Loads a .dlcx through the C interface of the runtime.
    Like the functions of the other tools, returns a function that runs the network, and one that returns the outputs of the last run."""
    lib = ctypes.CDLL(common.RUNTIME)
    for name in (
        "dlc_program_load",
        "dlc_session_create",
        "dlc_session_run",
        "dlc_program_input",
        "dlc_program_output",
    ):
        getattr(lib, name).restype = ctypes.c_void_p
    lib.dlc_error_message.restype, lib.dlc_error_message.argtypes = (
        ctypes.c_char_p,
        [ctypes.c_void_p],
    )
    for name in ("dlc_program_input_count", "dlc_program_output_count"):
        getattr(lib, name).restype = ctypes.c_size_t

    def check(error):
        if error:
            sys.exit("dlc: " + lib.dlc_error_message(error).decode())

    program, session = ctypes.c_void_p(), ctypes.c_void_p()
    check(lib.dlc_program_load(model.encode(), ctypes.byref(program)))
    check(
        lib.dlc_session_create(program, ctypes.byref(ctypes.c_int(threads)), ctypes.byref(session))
    )
    import numpy as np

    keep, results = [], []

    def tensors(count, query, given):
        array = (DLTensor * count)()
        for i in range(count):
            info = TensorInfo()
            check(query(program, ctypes.c_size_t(i), ctypes.byref(info)))
            if given:
                data = given[info.name.decode()].ctypes.data
            else:
                shape = tuple(info.shape[d] for d in range(info.ndim))
                kind = {0: "int", 1: "uint", 2: "float", 6: "bool"}.get(info.dtype.code, "void") + (
                    "" if info.dtype.code == 6 else str(info.dtype.bits)
                )
                buffer = np.zeros(info.bytes + 64, np.uint8)
                start = -buffer.ctypes.data % 64
                results.append(
                    buffer[start : start + info.bytes].view(kind).reshape(shape)
                    if kind[0] != "v"
                    else buffer[start : start + info.bytes]
                )
                data = results[-1].ctypes.data
            array[i] = DLTensor(data, DLDevice(1, 0), info.ndim, info.dtype, info.shape, None, 0)
        return array

    ins = tensors(lib.dlc_program_input_count(program), lib.dlc_program_input, inputs)
    outs = tensors(lib.dlc_program_output_count(program), lib.dlc_program_output, None)
    keep += [ins, outs, inputs, results]
    run, n, m = lib.dlc_session_run, ctypes.c_size_t(len(ins)), ctypes.c_size_t(len(outs))
    counters = {}
    for i in range(len(outs)):
        dimension, counter = ctypes.c_int32(), ctypes.c_size_t()
        if lib.dlc_program_output_counter(
            program, ctypes.c_size_t(i), ctypes.byref(dimension), ctypes.byref(counter)
        ):
            counters[i] = dimension.value, counter.value

    def found():
        """Returns the outputs with their actual sizes, and omits the outputs that hold these sizes (bounded dynamic dimensions)."""
        made = []
        for i, array in enumerate(
            results[: min([counter for _, counter in counters.values()], default=len(results))]
        ):
            if i in counters:
                dimension, counter = counters[i]
                shape = list(array.shape)
                shape[dimension] = int(results[counter])
                array = array.reshape(-1)[: int(np.prod(shape))].reshape(shape)
            made.append(array)
        return made

    # `keep` holds references to the arrays as long as the function exists.
    return lambda keep=keep: check(run(session, ins, n, outs, m)), found


def onnxruntime(model, threads, inputs, optimised=True):
    import onnxruntime as ort

    options = ort.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = threads, 3
    if not optimised:
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    return lambda: session.run(None, inputs), lambda: session.run(None, inputs)


def openvino(model, threads, inputs):
    import openvino as ov

    core = ov.Core()
    compiled = core.compile_model(
        core.read_model(model),
        "CPU",
        {
            "INFERENCE_NUM_THREADS": threads,
            "PERFORMANCE_HINT": "LATENCY",
            "INFERENCE_PRECISION_HINT": "f32",
        },
    )
    request, values = compiled.create_infer_request(), list(inputs.values())
    return lambda: request.infer(values, share_inputs=True), lambda: [
        request.get_output_tensor(i).data for i in range(len(compiled.outputs))
    ]


def torch_compile(network, batch, threads):
    import torch
    import torch._inductor.config as inductor
    import networks

    torch.set_num_threads(threads)
    inductor.freezing = True
    module, example = networks.build_network(network, batch)
    module = torch.compile(module)

    def run():
        with torch.inference_mode():
            module(*example)

    return run, None


def serve_requests(run, results=None):
    """Serves the requests of a common.Worker until stdin is closed: runs for a duration, or writes the results of a run to a file."""
    for line in sys.stdin:
        asked = json.loads(line)
        if "outputs" in asked:
            import numpy as np

            run()
            np.savez(asked["outputs"], *results())
            print(json.dumps({"peak_mib": peak_mib()}), flush=True)
            continue
        seconds, times = asked["seconds"], []
        run()  # warm-up: the other tools have evicted this process's data from the caches
        while sum(times) < seconds or len(times) < 2:
            start = time.perf_counter()
            run()
            times.append(time.perf_counter() - start)
        print(json.dumps({"times": times, "peak_mib": peak_mib()}), flush=True)


def main():
    tool, model, threads, given = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
    # The Python modules of the other tools are imported before the time measurement starts.
    if not tool.startswith("dlc"):
        importlib.import_module(
            {"torch.compile": "torch", "onnxruntime-plain": "onnxruntime"}.get(tool, tool)
        )
    if tool != "torch.compile":
        import numpy as np

        inputs = dict(np.load(given))
    before, start = peak_mib(), time.perf_counter()
    if tool.startswith("dlc"):
        run, results = dlc(model, threads, inputs)
    elif tool == "torch.compile":
        run, results = torch_compile(sys.argv[6], int(sys.argv[5]), threads)
    elif tool == "onnxruntime-plain":
        run, results = onnxruntime(model, threads, inputs, optimised=False)
    else:
        run, results = {"onnxruntime": onnxruntime, "openvino": openvino}[tool](
            model, threads, inputs
        )
    made = time.perf_counter() - start
    run()
    first = time.perf_counter() - start
    print(json.dumps({"made_s": made, "ready_s": first, "before_mib": before}), flush=True)
    serve_requests(run, results)


if __name__ == "__main__":
    main()
