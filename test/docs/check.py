#!/usr/bin/env python3
"""Runs the commands of the documentation: the fenced blocks of README.md and docs/ in order, each page in its own folder.

usage: check.py SOURCE-ROOT BUILD-FOLDER [PAGE...]

    ```console          `$ command` lines are run. The lines below a command are its output, in which `...` stands for any text
                        of a line or, on a line of its own, for any number of lines. Without lines, any output is accepted.
    ```sh               run as a script
    ```cpp main.cpp     a named block of any other language is written to that file
    ```text             not run

A page with the line `<!-- needs PyTorch -->` or `<!-- needs JAX -->` is run if an environment of the tests or the benchmarks has that package. Else the page is
skipped, and the last line of the output has the number of skipped pages.

A command must end with status 0. Any other kind of block is an error, and so is an indented block, because it would not be checked.
"""

import concurrent.futures
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import worlds

FENCE = re.compile(r"^```(\w*)(?: +(\S+))?\s*$")
SHOWN = {"text"}
#: Warning of PyTorch where Triton, which dlc does not need, is not installed.
NO_TRITON = re.compile(r"^W\d+ .*\btriton not found\b.*\n", re.M)
SECONDS = 120


def blocks(path):
    """(line number, language, name, lines) of each fenced block; an indented one has no language."""
    found, current, before = [], None, ""
    with open(path, encoding="utf-8") as f:
        for number, line in enumerate(f.read().splitlines(), 1):
            if line.startswith("```"):
                if current:
                    found.append(current)
                    current = None
                else:
                    fence = FENCE.match(line)
                    current = (number, fence[1] if fence else "", fence[2] if fence else None, [])
            elif current:
                current[3].append(line)
            elif line.startswith("    ") and not before.strip():
                found.append((number, "", None, [line]))
            before = line
    if current:
        found.append((current[0], "", None, []))
    return found


def commands(number, lines):
    """(line number, command, output lines) of a console block."""
    found, open_line = [], False
    for at, line in enumerate(lines, number + 1):
        if open_line:
            found[-1][1] += "\n" + line
        elif line.startswith("$ "):
            found.append([at, line[2:], []])
        elif found:
            found[-1][2].append(line)
        else:
            raise ValueError(f"{at}: output without a command")
        open_line = line.endswith("\\") and (open_line or line.startswith("$ "))
    return found


def pattern(lines):
    """Expected output as a regular expression over whole lines; runs of blanks are equal."""
    text = ""
    for line in lines:
        if line.strip() == "...":
            text += r"(?:.*\n)*?"
        else:
            words = [r"[^\n]*?".join(map(re.escape, word.split("..."))) for word in line.split()]
            text += r"[ \t]*" + r"[ \t]+".join(words) + r"[ \t]*\n"
    return re.compile(text)


#: Packages that pages may need: the name in the page's line, the package, and the environments that may have it.
NEEDS = {
    "PyTorch": ("torch", ["venv-torch", "venv-bench"]),
    "JAX": ("jax", ["venv-jax", "venv-bench"]),
}


def with_packages(environment, build, text):
    """The environment with the packages that a page needs, or None where one is missing."""
    for name, (package, folders) in NEEDS.items():
        if f"<!-- needs {name} -->" not in text.splitlines():
            continue
        found = [
            path
            for folder in folders
            for path in glob.glob(
                os.path.join(build, folder, "lib", "python3*", "site-packages", package)
            )
        ]
        if not found:
            return None
        environment = dict(
            environment,
            PYTHONPATH=os.pathsep.join([environment["PYTHONPATH"], os.path.dirname(found[0])]),
        )
    return environment


def run_page(page, root, environment, folder):
    problems, count = [], 0

    def problem(number, text):
        problems.append(f"{page}:{number}: {text}")

    def run(number, command, wanted=None):
        try:
            done = subprocess.run(
                ["bash", "-euo", "pipefail", "-c", command],
                cwd=folder,
                env=environment,
                text=True,
                timeout=SECONDS,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
            )
        except subprocess.TimeoutExpired:
            return problem(number, f"'{command}' ran for {SECONDS} s")
        if done.returncode:
            return problem(
                number, f"'{command}' ended with status {done.returncode}:\n{done.stdout}"
            )
        printed = NO_TRITON.sub("", done.stdout)
        if wanted and not pattern(wanted).fullmatch(
            printed if printed.endswith("\n") else printed + "\n"
        ):
            problem(number, f"'{command}' printed\n{printed}the page shows\n" + "\n".join(wanted))

    for number, language, name, lines in blocks(os.path.join(root, page)):
        if language == "console":
            try:
                for at, command, wanted in commands(number, lines):
                    run(at, command, wanted)
                    count += 1
            except ValueError as error:
                problems.append(f"{page}:{error}")
        elif language == "sh":
            run(number, "\n".join(lines))
            count += 1
        elif name:
            os.makedirs(os.path.dirname(os.path.join(folder, name)) or folder, exist_ok=True)
            with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
                f.write("\n".join(lines) + "\n")
        elif language not in SHOWN:
            problem(
                number,
                "required: a block of console, sh or text, or of another language with a file's name; "
                f"found: {language or 'an indented one, or one without a language'}",
            )
    return problems, count


def main():
    root, build = (os.path.abspath(a) for a in sys.argv[1:3])
    pages = [
        os.path.relpath(p, root)
        for p in [
            os.path.join(root, "README.md"),
            *glob.glob(os.path.join(root, "docs", "**", "*.md"), recursive=True),
        ]
    ]
    pages = sys.argv[3:] or sorted(p for p in pages if not p.startswith("docs/reference/"))
    scratch = tempfile.mkdtemp(prefix="dlc-docs-")
    emulated = os.path.join(build, "lib", "libdlc_emulated_gpu.so")
    environment = dict(
        os.environ,
        **worlds.ENVIRONMENT,
        HOME=scratch,
        CMAKE_PREFIX_PATH=os.path.join(scratch, "prefix"),
        DLC_CACHE_DIR=os.path.join(scratch, "cache"),
        DLC_PROFILE="zen5",
        DLC_CUDA_DRIVER=emulated,
        DLC_CUDA_NVRTC=emulated,
        DLC_CUDA_CUBLASLT="/none",
        DLC_CUDA_CUDNN="/none",
        DLC_CUDA_NCCL=emulated,
        PYTHONPATH=os.path.join(build, "python"),
        PATH=os.pathsep.join(
            [os.path.join(build, "bin"), os.path.join(build, "venv", "bin"), os.environ["PATH"]]
        ),
    )
    try:
        with open(os.path.join(scratch, "install.log"), "w") as log:
            subprocess.run(
                ["cmake", "--install", build, "--prefix", os.path.join(scratch, "prefix")],
                stdout=log,
                check=True,
            )
        models = os.path.join(scratch, "models")
        os.makedirs(models)
        subprocess.run(
            [sys.executable, os.path.join(root, "docs", "guide", "models.py")],
            cwd=models,
            check=True,
        )

        def one(page):
            folder = os.path.join(scratch, page.replace("/", "-"))
            shutil.copytree(models, folder)
            with open(os.path.join(root, page), encoding="utf-8") as f:
                given = with_packages(environment, build, f.read())
            return run_page(page, root, given, folder) if given else None

        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            results = list(pool.map(one, pages))
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    checked = [result for result in results if result]
    problems, count, skipped = (
        [p for found, _ in checked for p in found],
        sum(n for _, n in checked),
        len(results) - len(checked),
    )
    print(
        "\n".join(
            problems
            + [
                f"docs: {len(pages)} pages, {count} commands, {len(problems)} problems"
                + (f", {skipped} pages skipped" if skipped else "")
            ]
        )
    )
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
