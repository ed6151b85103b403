#!/usr/bin/env python3
"""Builds the Python package with the address sanitizer, and runs the tests of training steps and constants with it, and the ownership tests (programs that
outlive their compiler): the ctest python-sanitized.

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


def main():
    root, names = os.path.abspath(sys.argv[1]), sys.argv[2:] or TESTS
    here = os.path.join(root, "test", "python")
    subprocess.run([os.path.join(root, "tools", "build"), "--preset", "sanitize", "dlc_python_runtime", "dlc_python_compiler", "dlc_ownership_tests"], check=True)
    runtime = subprocess.run(["clang++-22", "-print-file-name=libclang_rt.asan-x86_64.so"], capture_output=True, text=True, check=True).stdout.strip()
    environment = {
        **os.environ,
        "ASAN_OPTIONS": ":".join(f"{name}={value}" for name, value in OPTIONS.items()),
        "UBSAN_OPTIONS": "print_stacktrace=1",
        "LD_PRELOAD": runtime,
        "PYTHONPATH": os.path.join(root, "build-sanitize", "python"),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    ownership = subprocess.run([os.path.join(root, "build-sanitize", "bin", "dlc_ownership_tests")], env={**environment, "LD_PRELOAD": ""})
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *(os.path.join(here, name) for name in names)], env=environment)
    sys.exit(done.returncode or ownership.returncode)


if __name__ == "__main__":
    main()
