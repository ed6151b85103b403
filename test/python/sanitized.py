#!/usr/bin/env python3
"""Builds the compiler and the Python package under the address sanitizer. Runs the tests of training steps and of constants in Python, of programs that
outlive their compiler, of constants in the IR, and of the importers and mutated files. The ctest python-sanitized runs it.

usage: sanitized.py ROOT [TEST...]

The package is ROOT/build-sanitize/python. PyTorch and Python are not instrumented; the sanitizer's runtime is preloaded for them.
"""

import os
import subprocess
import sys

#: libMLIR, libLLVM and PyTorch are not instrumented. Generated kernels are not either: freed memory is overwritten, so that they do not find old values there.
OPTIONS = {
    "detect_container_overflow": 0,
    "allow_user_poisoning": 0,
    "detect_leaks": 0,
    "detect_odr_violation": 0,
    "alloc_dealloc_mismatch": 0,
    "allocator_may_return_null": 1,
    "max_free_fill_size": 1 << 30,
    "free_fill_byte": 0xA5,
}
TESTS = ["test_step.py", "test_constants.py"]
#: Programs that are built, and the ctests of the sanitized build that run them.
PROGRAMS = ["dlc_ownership_tests", "dlc_tensor_tests", "fuzz", "dlc-onnx-ref"]
CTESTS = "^(tensor|fuzz|onnx-import-errors|onnx-node-reference|onnx-selected-reference)$"


def main():
    root, names = os.path.abspath(sys.argv[1]), sys.argv[2:] or TESTS
    here = os.path.join(root, "test", "python")
    subprocess.run(
        [
            os.path.join(root, "tools", "build"),
            "--preset",
            "sanitize",
            "dlc_python_runtime",
            "dlc_python_compiler",
            *PROGRAMS,
        ],
        check=True,
    )
    runtime = subprocess.run(
        ["clang++-22", "-print-file-name=libclang_rt.asan-x86_64.so"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    environment = {
        **os.environ,
        "ASAN_OPTIONS": ":".join(f"{name}={value}" for name, value in OPTIONS.items()),
        "UBSAN_OPTIONS": "print_stacktrace=1",
        "LD_PRELOAD": runtime,
        "PYTHONPATH": os.path.join(root, "build-sanitize", "python"),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    build = os.path.join(root, "build-sanitize")
    programs = [
        [os.path.join(build, "bin", "dlc_ownership_tests")],
        ["ctest", "--test-dir", build, "--output-on-failure", "-R", CTESTS],
    ]
    failed = [
        line
        for line in programs
        if subprocess.run(line, env={**environment, "LD_PRELOAD": ""}).returncode != 0
    ]
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            *(os.path.join(here, name) for name in names),
        ],
        env=environment,
    )
    sys.exit(done.returncode or bool(failed))


if __name__ == "__main__":
    main()
