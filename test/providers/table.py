"""Lists the files that belong to a kernel library, and the other files that have rows for it, for check.py and without.py.

A row is a line that names the library, including the text in its brackets.
"""

# Where names are looked for.
CHECKED = (
    "runtime",
    "ir",
    "passes",
    "frontend",
    "codegen",
    "tools/dlc",
    "tools/compiler",
    "tools/opt",
)

# name: as programs have it. files: patterns of the library's own. rows: other files that name it.
# words: an identifier that no one else would use; without it only the name in quotes, as a namespace or as a folder counts.
# uses: other libraries' files that call this one's, and why.
# targets, tests: what without.py builds and runs (ctest) once it is gone; whole: tests that need the compiler.
LIBRARIES = {
    "onednn": {
        "files": [
            "codegen/providers/onednn/*",
            "runtime/library/onednn/*",
            "test/runtime/library/OneDnn*",
        ],
        "rows": [
            "codegen/CMakeLists.txt",
            "codegen/providers/Providers.def",
            "runtime/library/Table.cpp",
            "runtime/CMakeLists.txt",
            "test/runtime/CMakeLists.txt",
        ],
        "words": "one_?dnn",
        "targets": ["dlc_runtime_tests"],
        "tests": ["runtime"],
        "whole": ["conformance"],
        "uses": {
            "ir/dlc/td/Base.td": "layouts are written as oneDNN writes them",
            "runtime/epilogue/*": "names of epilogue ops in each library",
        },
    },
    "tiles": {
        "files": [
            "codegen/providers/kernels/Tiles*",
            "runtime/library/tiles/*",
            "test/runtime/library/Tiles*",
        ],
        "rows": [
            "codegen/providers/Providers.def",
            "runtime/library/Table.cpp",
            "runtime/CMakeLists.txt",
            "test/runtime/CMakeLists.txt",
        ],
        "uses": {
            "codegen/lower/GpuKernel.cpp": "an attribute of kernels for GPUs",
            "runtime/library/attention/*": "its products of bf16 are made by the kernels of tiles",
            "runtime/library/blocks/*": "its products of many rows are made on tiles",
        },
    },
    "vectors": {
        "files": [
            "codegen/providers/kernels/Vectors*",
            "codegen/providers/kernels/Strassen*",
            "runtime/library/vectors/*",
        ],
        "rows": [
            "codegen/providers/Providers.def",
            "runtime/library/Table.cpp",
            "runtime/CMakeLists.txt",
        ],
        "uses": {"runtime/library/attention/*": "packs as products in vectors do"},
    },
    "direct": {
        "files": [
            "codegen/providers/kernels/Direct*",
            "runtime/library/direct/*",
            "test/runtime/library/Direct*",
        ],
        "rows": [
            "codegen/providers/Providers.def",
            "runtime/library/Table.cpp",
            "runtime/CMakeLists.txt",
            "test/runtime/CMakeLists.txt",
        ],
        "uses": {"runtime/library/onednn/KindsContraction.cpp": "oneDNN's word for an algorithm"},
    },
    "winograd": {
        "files": [
            "codegen/providers/kernels/Winograd*",
            "runtime/library/winograd/*",
            "test/runtime/library/Winograd*",
        ],
        "rows": [
            "codegen/providers/Providers.def",
            "runtime/library/Table.cpp",
            "runtime/CMakeLists.txt",
            "test/runtime/CMakeLists.txt",
        ],
        "words": "winograd",
        "targets": ["dlc_runtime_tests"],
        "tests": ["runtime"],
        "whole": ["conformance"],
        "uses": {"runtime/library/onednn/KindsContraction.cpp": "oneDNN's word for an algorithm"},
    },
    "attention": {
        "files": [
            "codegen/providers/kernels/Attention*",
            "runtime/library/attention/*",
            "test/runtime/library/Attention*",
        ],
        "rows": [
            "codegen/providers/Providers.def",
            "runtime/library/Table.cpp",
            "runtime/CMakeLists.txt",
            "test/runtime/CMakeLists.txt",
        ],
        "uses": {
            "codegen/lower/GpuKernel.cpp": "an attribute of kernels for GPUs",
            "codegen/providers/gpu/Cudnn.cpp": "the kind of a call",
            "frontend/trace/ops/Attention.cpp": "the operation",
            "ir/dlc/td/Attention.td": "the operation",
            "runtime/device/cuda/CudnnGraph.cpp": "the kind of a call",
            "runtime/library/describe/Attention.*": "the kind of a call",
        },
    },
    "builtin": {
        "files": [
            "codegen/providers/kernels/Builtin*",
            "runtime/library/builtin/*",
            "test/runtime/library/Builtin*",
            "test/runtime/library/LanePool*",
        ],
        "rows": [
            "codegen/providers/Providers.def",
            "runtime/library/Table.cpp",
            "runtime/CMakeLists.txt",
            "test/runtime/CMakeLists.txt",
        ],
        "uses": {"runtime/session/capi/Convert.cpp": "conversions of numbers"},
    },
    "cublaslt": {
        "files": [
            "codegen/providers/gpu/CublasLt*",
            "runtime/device/cuda/CublasLt*",
            "test/runtime/device/cuda/CublasLt*",
        ],
        "rows": [
            "codegen/providers/Providers.def",
            "runtime/device/cuda/Libraries.cpp",
            "runtime/device/cuda/Loader.cpp",
            "runtime/device/cuda/Loader.h",
            "runtime/device/cuda/CMakeLists.txt",
            "test/runtime/device/cuda/CMakeLists.txt",
        ],
        "words": "cublas_?lt",
    },
    "cudnn": {
        "files": [
            "codegen/providers/gpu/Cudnn*",
            "runtime/device/cuda/Cudnn*",
            "test/runtime/device/cuda/Cudnn*",
        ],
        "rows": [
            "codegen/providers/Providers.def",
            "runtime/device/cuda/Libraries.cpp",
            "runtime/device/cuda/Loader.cpp",
            "runtime/device/cuda/Loader.h",
            "runtime/device/cuda/CMakeLists.txt",
            "test/runtime/device/cuda/CMakeLists.txt",
        ],
        "words": "cudnn",
        "uses": {"runtime/epilogue/*": "names of epilogue ops in each library"},
        "targets": ["dlc_cuda_tests"],
        "tests": ["cuda"],
        "whole": ["conformance", "conformance-gpu-cublaslt"],
    },
    "nccl": {
        "files": ["runtime/device/cuda/Nccl*", "test/runtime/device/cuda/Nccl*"],
        "rows": [
            "runtime/device/cuda/Device.cpp",
            "runtime/device/cuda/Device.h",
            "runtime/device/cuda/Loader.cpp",
            "runtime/device/cuda/Loader.h",
            "runtime/device/cuda/CMakeLists.txt",
            "test/runtime/device/cuda/CMakeLists.txt",
        ],
        "words": "nccl",
    },
}
