#!/usr/bin/env python3
"""Times dlc against PyTorch on the same device, interleaved. The step `torch` of the kit runs this script (tools/gpu/README.md).

    torch_ratios.py --work dlc-gpu-work --state FOLDER --out FOLDER --seconds N --network NAME:BATCH[:inference]...

dlc and PyTorch each run in their own process, with their arrays on the device. In each pair of measurements, both run for a short time, and the order is
reversed from pair to pair. The ratio of a pair is PyTorch's median time divided by dlc's (above 1: dlc is faster); the result is the median over all pairs,
with its 95 % confidence interval. Each timed run includes the synchronization with the device. PyTorch uses channels-last images, its fused optimizer and
cudnn.benchmark. Configurations that are already in torch.json are not measured again; the file is replaced atomically. Only the worker processes (--worker)
import torch; the rest of the script needs only the standard library.
"""

import argparse
import json
import math
import os
import select
import shutil
import signal
import statistics
import subprocess
import sys
import time

FIRST = 10  # number of configurations that are compared with eager PyTorch before the first one with torch.compile


def read_gpu_clocks():
    """Returns the current clocks, temperature and power of the device from nvidia-smi, or None if nvidia-smi is not available."""
    smi = os.environ.get("KIT_NVIDIA_SMI") or shutil.which("nvidia-smi")
    if not smi:
        return None
    try:
        said = (
            subprocess.run(
                [
                    smi,
                    "--query-gpu=clocks.sm,clocks.mem,temperature.gpu,power.draw",
                    "--format=csv,noheader,nounits",
                ],
                capture_output=True,
                text=True,
                timeout=20,
            )
            .stdout.strip()
            .splitlines()
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return (
        dict(
            zip(
                ("sm_mhz", "memory_mhz", "celsius", "watts"),
                (part.strip() for part in said[0].split(",")),
            )
        )
        if said
        else None
    )


class MeasuredProcess:
    """A measured process: answers each line of JSON on stdin with one line of JSON on stdout."""

    def __init__(self, command, environment):
        self.errors = open(os.path.join(FOLDER, f"torch-{os.getpid()}-{id(self)}.err"), "w+")
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            env=environment,
            start_new_session=True,
        )
        self.rest = b""

    def answer(self, seconds):
        """Returns the next answer. Raises RuntimeError with the end of the error output if the process exits or does not answer in time."""
        until = time.monotonic() + seconds
        while b"\n" not in self.rest:
            left = until - time.monotonic()
            if left <= 0 or not select.select([self.process.stdout], [], [], left)[0]:
                raise RuntimeError(f"no answer within {seconds:.0f} s")
            more = os.read(self.process.stdout.fileno(), 1 << 16)
            if not more:
                raise RuntimeError(self.words())
            self.rest += more
        line, _, self.rest = self.rest.partition(b"\n")
        if not line.startswith(b"{"):
            return self.answer(max(until - time.monotonic(), 0))
        return json.loads(line)

    def ask(self, question, seconds):
        try:
            self.process.stdin.write(json.dumps(question).encode() + b"\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            raise RuntimeError(self.words()) from None
        return self.answer(seconds)

    def words(self):
        self.errors.flush()
        self.errors.seek(0)
        return "died: " + self.errors.read()[-1500:].strip()

    def close(self):
        try:
            os.killpg(self.process.pid, 9)
        except ProcessLookupError:
            pass
        self.process.wait()
        self.errors.close()
        os.unlink(self.errors.name)


def dlc(o, network, batch, mode, precision):
    environment = dict(os.environ)
    if os.environ.get("KIT_LIBRARIES"):
        environment["LD_LIBRARY_PATH"] = os.environ["KIT_LIBRARIES"]
    return MeasuredProcess(
        [
            o.work,
            "serve",
            network,
            "--mode",
            mode,
            "--batch",
            str(batch),
            "--precision",
            precision,
            "--device",
            o.device,
        ],
        environment,
    )


def start_torch_process(tool):
    return MeasuredProcess(
        [sys.executable, os.path.abspath(__file__), "--worker", tool],
        dict(os.environ, PYTHONUNBUFFERED="1"),
    )


def median_interval(ratios):
    """Returns the median and its 95 % confidence interval, by order statistics."""
    ordered, n = sorted(ratios), len(ratios)
    skip = max(int((n - 1.96 * math.sqrt(n)) / 2), 0)
    return statistics.median(ordered), ordered[skip], ordered[n - 1 - skip]


def measure(o, mine, theirs, limit):
    ratios, ours, torchs = [], [], []
    until = time.monotonic() + limit
    for i in range(o.pairs):
        if len(ratios) >= 2 and time.monotonic() > until:
            break
        pair = {}
        for side in (mine, theirs) if i % 2 else (theirs, mine):
            pair[side] = side.ask({"seconds": o.slice}, 60)["times"]
        ours += pair[mine]
        torchs += pair[theirs]
        ratios.append(statistics.median(pair[theirs]) / statistics.median(pair[mine]))
    middle, low, high = median_interval(ratios)
    return {
        "ratio": middle,
        "low": low,
        "high": high,
        "pairs": len(ratios),
        "dlc_ms": statistics.median(ours) * 1e3,
        "torch_ms": statistics.median(torchs) * 1e3,
        "dlc_runs": len(ours),
        "torch_runs": len(torchs),
        "ratios": ratios,
    }


class Results:
    def __init__(self, o):
        self.o, self.path, self.all = o, os.path.join(o.state, "torch.json"), {}
        try:
            with open(self.path) as f:
                self.all = json.load(f)
        except (OSError, ValueError):
            pass
        self.all.setdefault("cases", {})

    def has(self, key):
        return not self.o.again and key in self.all["cases"]

    def put(self, key, value):
        self.all["cases"][key] = value
        self.write()

    def write(self):
        for path in {self.path, os.path.join(self.o.out, "torch.json")}:
            with open(path + ".part", "w") as f:
                json.dump(self.all, f, indent=1)
            os.rename(path + ".part", path)


def compare(o, results, tools, network, batch, mode, precision, eager):
    """Measures one configuration with each tool. dlc's process is started once; the process of eager PyTorch is reused for the next configuration."""
    wanted = [tool for tool in tools if not results.has(f"{network}/{mode}/{precision}/{tool}")]
    if not wanted:
        return eager
    mine = None
    try:
        try:
            mine = dlc(o, network, batch, mode, precision)
            about = mine.answer(min(120, seconds_left(o)))
        except RuntimeError as error:
            if seconds_left(o) > 1:
                for tool in wanted:
                    results.put(f"{network}/{mode}/{precision}/{tool}", {"error": f"dlc: {error}"})
            return eager
        for tool in wanted:
            key = f"{network}/{mode}/{precision}/{tool}"
            theirs = eager if tool == "eager" else None
            start = time.monotonic()
            try:
                theirs = theirs or start_torch_process(tool)
                eager = theirs if tool == "eager" else eager
                task = {
                    "load": network,
                    "batch": batch,
                    "mode": mode,
                    "precision": precision,
                    "device": o.device,
                }
                ready = theirs.ask(task, min(60 if tool == "eager" else o.compile, seconds_left(o)))
                before = read_gpu_clocks()
                found = measure(o, mine, theirs, min(15, seconds_left(o)))
                found.update(
                    batch=batch,
                    dlc_ready_s=about["ready_s"],
                    torch_ready_s=ready["ready_s"],
                    clocks_before=before,
                    clocks_after=read_gpu_clocks(),
                )
                results.put(key, found)
            except RuntimeError as error:
                # A measurement that was interrupted by the deadline of the step is not an error.
                if seconds_left(o) > 1:
                    results.put(key, {"error": str(error), "seconds": time.monotonic() - start})
                if theirs is eager and eager:
                    eager.close()
                    eager = None
            finally:
                if theirs and theirs is not eager:
                    theirs.close()
    finally:
        if mine:
            mine.close()
    return eager


def seconds_left(o):
    return o.until - time.monotonic()


def main():
    a = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    a.add_argument("--work", required=True)
    a.add_argument("--state", required=True)
    a.add_argument("--out", required=True)
    a.add_argument("--device", default="cuda:0")
    a.add_argument("--seconds", type=float, default=300)
    a.add_argument("--network", action="append", default=[])
    a.add_argument("--pairs", type=int, default=9)
    a.add_argument(
        "--slice",
        type=float,
        default=0.12,
        help="seconds for which each side is timed in each pair, at least two runs",
    )
    a.add_argument(
        "--compile",
        type=float,
        default=150,
        help="time limit of torch.compile for one configuration, in seconds",
    )
    a.add_argument(
        "--tools",
        default="",
        help="tools to compare with: eager, max-autotune, or both; implies bf16",
    )
    a.add_argument("--small", action="store_true")
    a.add_argument("--again", action="store_true")
    o = a.parse_args()
    o.until = time.monotonic() + o.seconds
    # On SIGTERM, exits in an orderly way, so that the started processes are ended, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    global FOLDER
    FOLDER = os.path.join(o.state, "files")
    os.makedirs(FOLDER, exist_ok=True)
    # Inductor's cache is retained, so that a continued step reuses the results of autotuning.
    os.environ.setdefault(
        "TORCHINDUCTOR_CACHE_DIR", os.path.join(os.path.dirname(o.state), "inductor")
    )
    results = Results(o)
    if o.small:
        o.pairs, o.slice = 2, 0
    configs = []
    for precision in ("bf16", "tf32"):
        for mode in ("training", "inference"):
            for text in o.network:
                name, batch, *rest = text.split(":")
                if mode == "inference" or not rest:
                    configs.append((name, int(batch), mode, precision))
    if o.small:
        configs = configs[:1]
    one, other, eager = ["eager"], ["max-autotune"], None
    try:
        eager = start_torch_process("eager")
        results.all["torch"] = eager.ask({"about": o.device}, min(120, seconds_left(o)))
        results.write()
        # torch.compile takes a minute for each configuration, so the most important ones are first compared with eager PyTorch.
        plan = [(c, one) for c in configs[:FIRST]] + [(c, other) for c in configs[: FIRST // 2]]
        plan += [(c, one) for c in configs[FIRST:]] + [(c, other) for c in configs[FIRST // 2 :]]
        if not o.small:
            plan += [
                ((name, batch, mode, "f32"), one)
                for name, batch, mode, precision in configs
                if precision == "tf32"
            ]
        if o.tools:
            plan = [(c, [tool]) for tool in o.tools.split(",") for c in configs if c[3] == "bf16"]
        for config, tools in plan:
            if seconds_left(o) < 8:
                break
            eager = compare(o, results, tools, *config, eager)
        results.all["done"] = (
            all(results.has(f"{c[0]}/{c[2]}/{c[3]}/{tool}") for c, tools in plan for tool in tools)
            or o.again
            and seconds_left(o) >= 8
        )
    except RuntimeError as error:
        results.all["error"] = str(error)
        print(error, file=sys.stderr)
    finally:
        if eager:
            eager.close()
        results.write()


def run_torch_worker(tool):
    """Runs PyTorch in this process and answers lines of JSON: {"about": device}, {"load": network, ..}, {"seconds": s}."""
    import torch

    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    import networks

    run, synchronize = None, lambda: None

    def median_of(work, rounds=12):
        times = []
        for _ in range(rounds):
            synchronize()
            start = time.perf_counter()
            work()
            synchronize()
            times.append(time.perf_counter() - start)
        return statistics.median(times[2:])

    def about(device):
        found = {
            "version": torch.__version__,
            "cuda": torch.version.cuda,
            "cudnn": torch.backends.cudnn.version(),
        }
        if not device.startswith("cuda"):
            return found
        found["device"] = torch.cuda.get_device_name(device)
        # Measures the device's peak performance with PyTorch, for comparison with the step `machine`.
        x = torch.empty(1 << 29, device=device)
        y = torch.empty_like(x)
        found["copy_gb_s"] = 2 * x.numel() * 4 / median_of(lambda: y.copy_(x)) * 1e-9
        x = y = None
        for name, kind in (
            ("bf16", torch.bfloat16),
            ("tf32", torch.float32),
            ("f32", torch.float32),
        ):
            torch.backends.cuda.matmul.allow_tf32 = name == "tf32"
            a, b = (torch.randn(8192, 8192, device=device, dtype=kind) for _ in range(2))
            found[name] = 2 * 8192**3 / median_of(lambda: a @ b) * 1e-12
            a = b = None
        torch.cuda.empty_cache()
        return found

    def load(task):
        nonlocal run
        run = None
        device, precision = task["device"], task["precision"]
        kind = device.partition(":")[0]
        if kind == "cuda":
            torch.cuda.empty_cache()
        torch.backends.cudnn.benchmark = True
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = (
            precision == "tf32"
        )
        trains = task["mode"] == "training"
        if trains:
            made = networks.make_training_setup(task["load"], task["batch"])
            module, (x, t) = (
                made.module.to(device),
                (value.to(device) for value in made.batch_of(0)),
            )
        else:
            module, (x,) = networks.build_network(task["load"], task["batch"])
            module, x = module.to(device), x.to(device)
            if precision == "bf16":
                # For bf16 inference, the weights are converted to bf16 in advance, as users do who optimize for speed.
                module, x = (
                    module.to(torch.bfloat16),
                    x.to(torch.bfloat16) if x.is_floating_point() else x,
                )
        if x.dim() == 4:
            module, x = (
                module.to(memory_format=torch.channels_last),
                x.to(memory_format=torch.channels_last),
            )

        def forward(x, *t):
            if not trains:
                return module(x)
            with torch.autocast(kind, torch.bfloat16, enabled=precision == "bf16"):
                return made.loss(module(x), *t)

        if tool != "eager":
            forward = torch.compile(forward, mode=tool)
        if trains:
            sgd = torch.optim.SGD(
                module.parameters(), lr=made.rate, **({"fused": True} if kind == "cuda" else {})
            )

        def step():
            if tool != "eager":
                torch.compiler.cudagraph_mark_step_begin()
            sgd.zero_grad()
            loss = forward(x, t)
            loss.backward()
            if made.clip:
                torch.nn.utils.clip_grad_norm_(module.parameters(), made.clip)
            sgd.step()
            return loss.item()

        def infer():
            if tool != "eager":
                torch.compiler.cudagraph_mark_step_begin()
            with torch.inference_mode():
                forward(x)
            synchronize()

        run = step if trains else infer
        # Warm-up: the first run compiles kernels, and the next ones capture CUDA graphs.
        first = run()
        for _ in range(3):
            run()
        return first

    for line in sys.stdin:
        question = json.loads(line)
        start = time.perf_counter()
        if "about" in question:
            if question["about"].startswith("cuda"):
                synchronize = torch.cuda.synchronize
            said = about(question["about"])
        elif "load" in question:
            if question["device"].startswith("cuda"):
                synchronize = torch.cuda.synchronize
            loss = load(question)
            said = {"ready_s": time.perf_counter() - start, "loss": loss}
        else:
            times = []
            run()
            while sum(times) < question["seconds"] or len(times) < 2:
                start = time.perf_counter()
                run()
                times.append(time.perf_counter() - start)
            said = {"times": times}
        print(json.dumps(said), flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--worker"]:
        run_torch_worker(sys.argv[2])
    else:
        main()
