"""Shared functions of the scripts in this folder: paths, the benchmark Python environment, workers and statistics."""

import importlib.util
import json
import math
import os
import shlex
import statistics
import struct
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("DLC_BUILD", os.path.join(ROOT, "build"))
DLC = os.path.join(BUILD, "bin", "dlc")
RUNTIME = os.path.join(BUILD, "lib", "libdlc_runtime.so")
MODELS = os.environ.get("DLC_BENCH_MODELS", os.path.join(ROOT, "build", "bench"))


def use_bench_python():
    """Restarts the script in the environment with the peers (tools/setup --bench) if torch cannot be imported."""
    if importlib.util.find_spec("torch"):
        return
    python = os.environ.get(
        "DLC_BENCH_PYTHON", os.path.join(ROOT, "build", "venv-bench", "bin", "python")
    )
    if not os.path.exists(python) or os.environ.get("DLC_BENCH_INSIDE"):
        sys.exit(
            f"{python} is missing or lacks torch: run tools/setup --bench, or set DLC_BENCH_PYTHON"
        )
    os.environ["DLC_BENCH_INSIDE"] = "1"
    os.execv(python, [python] + sys.argv)


#: Modules of peers whose exceptions are derived directly from Exception.
MODULES_WITH_EXCEPTIONS = (
    "google.protobuf.message",
    "onnx.checker",
    "onnx.shape_inference",
    "onnxruntime.capi.onnxruntime_pybind11_state",
    "torch._export.verifier",
)


def failures():
    """Returns the exceptions with which a tool, an exporter or a network rejects a model or fails to run it. A script records them and continues with the
    next network. Other exceptions, such as NameError, are mistakes in the script itself and end it."""
    modules = [sys.modules[name] for name in MODULES_WITH_EXCEPTIONS if name in sys.modules]
    own = [
        each
        for module in modules
        for each in vars(module).values()
        if isinstance(each, type) and each.__base__ is Exception
    ]
    return (
        ArithmeticError,
        AssertionError,
        AttributeError,
        ImportError,
        LookupError,
        MemoryError,
        OSError,
        RuntimeError,
        TypeError,
        ValueError,
        subprocess.SubprocessError,
        *own,
    )


def network_names():
    return ["resnet-50", "mobilenet-v2", "vit", "bert", "lstm", "alexnet-s", "fcn-s"]


def export(name, batch):
    """Exports the network as ONNX and returns the path. torch exports it in another process, so that its memory is released."""
    path = os.path.join(MODELS, f"{name}-{batch}.onnx")
    if not os.path.exists(path):
        print(f"exporting {name} at batch {batch}", file=sys.stderr, flush=True)
        here = os.path.dirname(os.path.abspath(__file__))
        subprocess.run(
            [
                sys.executable,
                "-c",
                f"import sys; sys.path.insert(0, {here!r}); import networks; networks.export({name!r}, {batch}, {MODELS!r})",
            ],
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    return path


def input_specs(path):
    """Returns [(name, numpy type, shape)] of an ONNX file's inputs, without reading its weights."""
    import onnx

    model = onnx.load(path, load_external_data=False)
    known = {w.name for w in model.graph.initializer}
    return [
        (
            i.name,
            onnx.helper.tensor_dtype_to_np_dtype(i.type.tensor_type.elem_type),
            [d.dim_value for d in i.type.tensor_type.shape.dim],
        )
        for i in model.graph.input
        if i.name not in known
    ]


def random_inputs(path, seed=0):
    """Returns the path of a file with random inputs by name. It is cached next to the model, so that workers need not read the model."""
    kept = f"{os.path.splitext(path)[0]}-inputs-{seed}.npz"
    if not os.path.exists(kept):
        here = os.path.dirname(os.path.abspath(__file__))
        subprocess.run(
            [
                sys.executable,
                "-c",
                f"import sys; sys.path.insert(0, {here!r}); import common; common.make_inputs({path!r}, {seed}, {kept!r})",
            ],
            check=True,
        )
    return kept


def write_random_inputs(path, seed, kept):
    import numpy as np

    rng = np.random.default_rng(seed)
    inputs = {
        name: rng.standard_normal(shape).astype(dtype)
        if dtype.kind == "f"
        else rng.integers(0, 9999, shape).astype(dtype)
        for name, dtype, shape in input_specs(path)
    }
    np.savez(kept + ".part.npz", **inputs)
    os.rename(kept + ".part.npz", kept)


def compile_program(model, out, threads, cache, tune=False, accuracy="default"):
    """Compiles the model. Returns the wall time of `dlc compile` in seconds, and the peak memory of its process in MiB."""
    command = [
        DLC,
        "compile",
        model,
        "-o",
        out,
        "--threads",
        str(threads),
        "--cache",
        cache,
        "--accuracy",
        accuracy,
    ] + (["--tune"] if tune else [])
    start = time.perf_counter()
    pid = os.posix_spawn(command[0], command, os.environ)
    _, status, usage = os.wait4(pid, 0)
    seconds = time.perf_counter() - start
    if status:
        raise RuntimeError(
            f"failed with status {os.waitstatus_to_exitcode(status)}: {' '.join(command)}"
        )
    return seconds, usage.ru_maxrss / 1024


def run_tool(name, *arguments):
    """Runs a program of the build and returns its output."""
    done = subprocess.run(
        [os.path.join(BUILD, "bin", name), *arguments], capture_output=True, text=True
    )
    if done.returncode:
        raise RuntimeError(
            (done.stderr.strip().splitlines() or [f"{name}: status {done.returncode}"])[-1]
        )
    return done.stdout


def measure_limits(threads):
    """Measures the current limits of the machine: FMA rate (fma_gflops) and STREAM triad (triad_gb_per_s)."""
    return json.loads(
        run_tool(
            "dlc-bandwidth", "--limits", "--threads", str(threads), "--rounds", "3", "--mib", "128"
        )
    )


class Worker:
    """A benchmarked tool in its own process, which runs for requested durations (worker.py, train_worker.py, dlc-train-network --serve)."""

    def __init__(self, tool, command, threads):
        self.tool, self.times, self.rounds, self.peak, self.error = tool, [], [], 0, None
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=dict(os.environ, OMP_NUM_THREADS=str(threads)),
        )
        self.about = self.answer()

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            self.error = (
                self.process.stderr.read().strip().splitlines() or ["exited without a message"]
            )[-1]
            return {}
        return json.loads(line)

    def ask(self, **what):
        try:
            self.process.stdin.write(json.dumps(what) + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # answer() reads the error of the process
        return self.answer()

    def round(self, seconds):
        answer = self.ask(seconds=seconds)
        times = answer.get("times", [])
        self.times += times
        if times:
            self.rounds.append(statistics.median(times))
        self.peak = answer.get("peak_mib", self.peak)

    def close(self):
        self.process.kill()
        self.process.wait()


def median_interval(values):
    """Returns the median and its 95 % confidence interval, by order statistics (minimum and maximum if there are few values)."""
    ordered, n = sorted(values), len(values)
    # Drops as many values at each end as the tail of the binomial distribution B(n, 1/2) with a probability of at most 2.5 % allows.
    tail, below = 0.0, 0
    while below < n // 2 and tail + math.comb(n, below) / 2**n <= 0.025:
        tail += math.comb(n, below) / 2**n
        below += 1
    below = max(below - 1, 0)
    return statistics.median(ordered), ordered[below], ordered[n - 1 - below]


def cpu_name():
    with open("/proc/cpuinfo") as f:
        return next((line.split(":")[1].strip() for line in f if line.startswith("model name")), "")


def describe_run(measurements):
    """Returns the content of a --json file, which tables.py reads: the measurements with machine, date and command line."""
    options = [
        a
        for i, a in enumerate(sys.argv)
        if i and not a.startswith("--json") and sys.argv[i - 1] != "--json"
    ]
    command = shlex.join([os.path.relpath(os.path.abspath(sys.argv[0]), ROOT), *options])
    return {
        "machine": cpu_name(),
        "when": time.strftime("%Y-%m-%d"),
        "command": command,
        "measurements": measurements,
    }


KINDS = {"F32": "float32", "F64": "float64", "I64": "int64", "I32": "int32"}


def write_safetensors(path, tensors):
    """Writes NumPy arrays by name to a safetensors file."""
    kinds = {v: k for k, v in KINDS.items()}
    header, at = {}, 0
    for name, value in tensors.items():
        header[name] = {
            "dtype": kinds[str(value.dtype)],
            "shape": list(value.shape),
            "data_offsets": [at, at + value.nbytes],
        }
        at += value.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text)
        for value in tensors.values():
            f.write(value.tobytes())


def read_safetensors(path):
    import numpy as np

    with open(path, "rb") as f:
        (size,) = struct.unpack("<Q", f.read(8))
        header, data = json.loads(f.read(size)), f.read()
    return {
        name: np.frombuffer(data[slice(*about["data_offsets"])], KINDS[about["dtype"]]).reshape(
            about["shape"]
        )
        for name, about in header.items()
        if name != "__metadata__"
    }
