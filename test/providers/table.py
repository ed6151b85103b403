"""Which files are a kernel library's own, and in which others it has rows: for check.py and without.py.

A row is a line that names the library, with what its brackets enclose.
"""

# Where names are looked for.
CHECKED = ("runtime",)

# name: as programs have it. files: patterns of the library's own. rows: other files that name it.
# words: an identifier that no one else would use; without it only the name in quotes, as a namespace or as a folder counts.
# uses: other libraries' files that call this one's, and why.
# targets, tests: what without.py builds and runs (ctest) once it is gone; whole: tests that need the compiler.
LIBRARIES = {
    "onednn": {
        "files": ["runtime/library/onednn/*", "test/runtime/OneDnn*"],
        "rows": ["runtime/library/Table.cpp", "runtime/CMakeLists.txt", "test/runtime/CMakeLists.txt"],
        "words": "one_?dnn",
        "uses": {"runtime/threads/*": "makes a copy of oneDNN that uses our threads"},
    },
    "tiles": {
        "files": ["runtime/library/tiles/*", "test/runtime/Tiles*"],
        "rows": ["runtime/library/Table.cpp", "runtime/CMakeLists.txt", "test/runtime/CMakeLists.txt"],
        "uses": {"runtime/library/attention/*": "its products of bf16 are made by the kernels of tiles"},
    },
    "vectors": {
        "files": ["runtime/library/vectors/*"],
        "rows": ["runtime/library/Table.cpp", "runtime/CMakeLists.txt"],
        "uses": {"runtime/library/attention/*": "packs as products in vectors do"},
    },
    "direct": {
        "files": ["runtime/library/direct/*", "test/runtime/Direct*"],
        "rows": ["runtime/library/Table.cpp", "runtime/CMakeLists.txt", "test/runtime/CMakeLists.txt"],
        "uses": {"runtime/library/onednn/KindsContraction.cpp": "oneDNN's word for an algorithm"},
    },
    "winograd": {
        "files": ["runtime/library/winograd/*", "test/runtime/Winograd*"],
        "rows": ["runtime/library/Table.cpp", "runtime/CMakeLists.txt", "test/runtime/CMakeLists.txt"],
        "words": "winograd",
        "targets": ["dlc_runtime_tests"],
        "tests": ["runtime"],
        "whole": ["conformance"],
        "uses": {"runtime/library/onednn/KindsContraction.cpp": "oneDNN's word for an algorithm"},
    },
    "attention": {
        "files": ["runtime/library/attention/*", "test/runtime/Attention*"],
        "rows": ["runtime/library/Table.cpp", "runtime/CMakeLists.txt", "test/runtime/CMakeLists.txt"],
        "uses": {"runtime/device/cuda/CudnnGraph.cpp": "the kind of a call"},
    },
    "builtin": {
        "files": ["runtime/library/builtin/*", "test/runtime/Builtin*", "test/runtime/LanePool*"],
        "rows": ["runtime/library/Table.cpp", "runtime/CMakeLists.txt", "test/runtime/CMakeLists.txt"],
        "uses": {"runtime/session/Convert.cpp": "conversions of numbers"},
    },
    "cublaslt": {
        "files": ["runtime/device/cuda/CublasLt*", "test/runtime/device/cuda/CublasLt*"],
        "rows": ["runtime/device/cuda/Libraries.cpp", "runtime/device/cuda/Loader.cpp", "runtime/device/cuda/Loader.h",
                 "runtime/device/cuda/CMakeLists.txt", "test/runtime/device/cuda/CMakeLists.txt"],
        "words": "cublas_?lt",
    },
    "cudnn": {
        "files": ["runtime/device/cuda/Cudnn*", "test/runtime/device/cuda/Cudnn*"],
        "rows": ["runtime/device/cuda/Libraries.cpp", "runtime/device/cuda/Loader.cpp", "runtime/device/cuda/Loader.h",
                 "runtime/device/cuda/CMakeLists.txt", "test/runtime/device/cuda/CMakeLists.txt"],
        "words": "cudnn",
        "targets": ["dlc_cuda_tests"],
        "tests": ["cuda"],
        "whole": ["conformance", "conformance-gpu-cublaslt"],
    },
}
