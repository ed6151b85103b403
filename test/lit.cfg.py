# The lit tests: which files they are, and which commands they may use.
import os

import lit.formats

config.name = "dlc"
config.test_format = lit.formats.ShTest(False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs", "CMakeLists.txt", "README.md"]
config.test_source_root = os.path.join(config.dlc_source, "test")
config.test_exec_root = os.path.join(config.dlc_build, "test")

bin = os.path.join(config.dlc_build, "bin")
# Commands are found by name: ours, LLVM's (FileCheck, not, split-file, count), then Python with onnx and numpy.
config.environment["PATH"] = os.pathsep.join(
    [bin, config.llvm_tools, os.path.join(config.venv, "bin"), os.environ["PATH"]]
)
# Nothing that a test compiles comes from, or stays in, the user's cache.
config.environment["DLC_CACHE_DIR"] = os.path.join(config.test_exec_root, "cache")
# What estimates choose is the same on all machines.
config.environment["DLC_PROFILE"] = os.environ.get("DLC_PROFILE", "zen5")
# The real one has no use for an emulated GPU.
config.environment["DLC_CUDA_CUBLASLT"] = config.environment["DLC_CUDA_CUDNN"] = config.environment[
    "DLC_CUDA_NCCL"
] = "/none"
config.environment["PYTHONPATH"] = os.path.join(config.dlc_source, "test")
for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS"):
    if name in os.environ:
        config.environment[name] = os.environ[name]

emulated_gpu = os.path.join(config.dlc_build, "lib", "libdlc_emulated_gpu.so")
if os.path.exists(emulated_gpu):
    config.available_features.add("emulated-gpu")
# Tests that take minutes are run by the ctest lit-long.
if lit_config.params.get("long"):
    config.available_features.add("long")
with open("/proc/cpuinfo") as f:
    processor = set(f.read().split())
if {"amx_bf16", "avx512_bf16"} <= processor:
    config.available_features.add("tiles")
if "avx512_vnni" in processor:
    config.available_features.add("vnni")
if "avx512f" in processor:
    config.available_features.add("avx512")
if {"avx2", "fma"} <= processor:
    config.available_features.add("fma")
config.substitutions += [
    ("%python", os.path.join(config.venv, "bin", "python")),
    ("%bin", bin),
    ("%source", config.dlc_source),
    ("%build", config.dlc_build),
    # In front of a command: what it does on cuda devices happens on the emulated GPU.
    ("%emulated-gpu", "env DLC_CUDA_DRIVER={0} DLC_CUDA_NVRTC={0}".format(emulated_gpu)),
    (
        "%emulated-nccl",
        "env DLC_CUDA_DRIVER={0} DLC_CUDA_NVRTC={0} DLC_CUDA_NCCL={0}".format(emulated_gpu),
    ),
]
# llama.cpp, with which language models are compared (tools/setup --llama).
llama_python = os.path.join(config.dlc_build, "venv-llama", "bin", "python")
if os.path.exists(llama_python):
    config.available_features.add("llama-cpp")
config.substitutions.append(("%llama-python", llama_python))
for tool in ("dlc", "dlc-opt", "dlc-reduce", "dlc-lsp-server", "dlc-magika", "dlc-train-digits"):
    if os.path.exists(os.path.join(bin, tool)):
        config.available_features.add(tool)
for library, feature in (
    ("libdlc_compiler.so", "dlc-compiler-library"),
    ("libdlc_data.so", "dlc-data"),
    ("libdlc_mpi.so", "mpi"),
):
    if os.path.exists(os.path.join(config.dlc_build, "lib", library)):
        config.available_features.add(feature)
