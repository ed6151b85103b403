"""Compares libdlc_text with the vocabulary vectors of llama.cpp, with Jinja2's sandbox, and with the library `tokenizers`.

usage: oracles.py TOOL FOLDER

TOOL is dlc_text_tool. The packages are downloaded from PyPI into FOLDER; without a network, the exit status is 77 (skipped).
"""

import glob
import os
import subprocess
import sys
import tarfile

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = "llama-cpp-python==0.3.36"
PACKAGES = ["jinja2==3.1.6", "tokenizers==0.23.3"]


def run(command, **options):
    return subprocess.run(command, check=True, **options)


def download(folder):
    """Returns the folder of llama.cpp and the Python of a virtual environment, or None."""
    python = os.path.join(folder, "venv", "bin", "python")
    done = os.path.join(folder, "complete")
    if not os.path.exists(done):
        try:
            run([sys.executable, "-m", "venv", os.path.join(folder, "venv")])
            run([python, "-m", "pip", "install", "-q", *PACKAGES])
            pip = [python, "-m", "pip", "download", "-q", "--no-deps"]
            run([*pip, "--no-binary", "llama-cpp-python", SOURCE, "-d", folder])
        except subprocess.CalledProcessError:
            return None
        for archive in glob.glob(os.path.join(folder, "llama_cpp_python-*.tar.gz")):
            with tarfile.open(archive) as tar:
                # The argument `filter` requires a later Python than Debian's.
                safe = [
                    m
                    for m in tar
                    if m.isfile() and not m.name.startswith("/") and ".." not in m.name.split("/")
                ]
                tar.extractall(folder, members=safe)
        open(done, "w").close()
    found = glob.glob(os.path.join(folder, "llama_cpp_python-*", "vendor", "llama.cpp"))
    return (found[0], python) if found else None


def main():
    tool, folder = sys.argv[1:3]
    os.makedirs(folder, exist_ok=True)
    found = download(folder)
    if not found:
        print("skipped: PyPI cannot be reached, or does not have the packages")
        return 77
    source, python = found
    files = sorted(glob.glob(os.path.join(source, "models", "ggml-vocab-*.gguf")))
    files = [each for each in files if os.path.exists(each + ".inp")]
    failed = subprocess.run([tool, "vectors", *files]).returncode
    templates = os.path.join(source, "models", "templates")
    for script, argument in (("templates.py", templates), ("vocabularies.py", folder)):
        failed |= subprocess.run([python, os.path.join(HERE, script), tool, argument]).returncode
    return int(failed != 0)


if __name__ == "__main__":
    sys.exit(main())
