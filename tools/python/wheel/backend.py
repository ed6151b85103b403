"""The build backend of `pip install .`: scikit-build-core, with two additions. It first checks that tools/setup has prepared the machine, so that a missing
package is reported at once. And it shows the progress of the build on the terminal, because pip shows the output of a build only if the build fails.
"""

import contextlib
import os
import platform
import re
import shutil
import subprocess
import sys
import threading
import time

import scikit_build_core.build
from scikit_build_core.build import *  # noqa: F403  all other hooks

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
#: Programs that are checked on systems without dpkg, with the packages that contain them.
PROGRAMS = {
    "cmake": "cmake",
    "ninja": "ninja-build",
    "ccache": "ccache",
    "clang++-22": "clang-22",
    "ld.lld-22": "lld-22",
    "mlir-tblgen-22": "mlir-22-tools",
}
STEP = re.compile(rb"^\[(\d+)/(\d+)\] ")
STAGE = re.compile(rb"^(?:build|setup|release): ")


def read_lines(path):
    with open(path, encoding="utf-8") as f:
        return [line.strip() for line in f if line.strip() and not line.startswith("#")]


def missing_packages(root):
    """Returns the Debian packages of tools/debian-packages.txt that are not installed."""
    if not shutil.which("dpkg-query"):
        return [package for program, package in PROGRAMS.items() if not shutil.which(program)]
    wanted = read_lines(os.path.join(root, "tools", "debian-packages.txt"))
    listed = subprocess.run(
        ["dpkg-query", "-W", "-f", "${Package} ${db:Status-Status}\n", *wanted],
        capture_output=True,
        text=True,
    ).stdout
    installed = {line.split()[0] for line in listed.splitlines() if line.endswith(" installed")}
    return [package for package in wanted if package not in installed]


def problems(root=ROOT):
    """Returns what the machine lacks for a build, one text for each problem."""
    found = []
    if sys.platform != "linux" or platform.machine() != "x86_64":
        found.append(f"required: Linux on x86-64; found: {sys.platform} on {platform.machine()}")
    packages = missing_packages(root)
    if packages:
        found.append(
            f"required: the packages of tools/debian-packages.txt; missing: {', '.join(packages)}"
        )
    stamp, requirements = (
        os.path.join(root, "build", "venv", ".installed"),
        os.path.join(root, "tools", "requirements.txt"),
    )
    if not os.path.exists(stamp):
        found.append(
            "required: the Python packages of tools/requirements.txt in build/venv; found: no such environment"
        )
    elif read_lines(stamp) != read_lines(requirements):
        found.append(
            "required: the Python packages of tools/requirements.txt in build/venv; found: other versions of them"
        )
    return found


def check(root=ROOT):
    found = problems(root)
    if found:
        sys.exit(
            "\n".join(
                [
                    "dlc: this machine is not prepared to build dlc",
                    *("  " + each for each in found),
                    f"run {os.path.join(root, 'tools', 'setup')} first",
                ]
            )
        )


@contextlib.contextmanager
def open_terminal():
    """Yields the terminal to which progress is written, or None. pip captures both output streams of a backend, but the process still has a terminal."""
    if os.isatty(2):
        yield sys.stderr
        return
    try:
        terminal = open("/dev/tty", "w", encoding="utf-8")
    except OSError:
        yield None
        return
    with terminal:
        yield terminal


def count_step(counts, done, total):
    """Updates the numbers of finished and total steps of nested builds for a line of one of them, and returns their sums."""
    following = [each for each in counts if each[0] + 1 == done]
    if following:
        min(following, key=lambda each: abs(each[1] - total))[:] = done, total
    else:
        counts.append([done, total])
    return map(sum, zip(*counts))


def forward(lines, output, terminal, begin):
    """Copies the lines of a build to `output`, except those that count its steps, and writes the state of the build to the terminal: at most twice
    a second. Without a terminal, it is written to `output` once a minute."""
    shown, counts = begin, []
    for line in lines:
        step, stage = STEP.match(line), STAGE.match(line)
        if not step:
            os.write(output, line)
        if not (step or stage and terminal is not None):
            continue
        now = time.monotonic()
        if step:
            done, total = count_step(counts, int(step[1]), int(step[2]))
            if done != total and now - shown < (60 if terminal is None else 0.5):
                continue
            text = f"dlc: {done} of {total} build steps, {100 * done // max(total, 1)} %, {int(now - begin) // 60} min {int(now - begin) % 60} s"
        else:
            text = "dlc: " + line.decode(errors="replace").strip()
        shown = now
        if terminal is None:
            os.write(output, f"{text}\n".encode())
            continue
        # The trailing blank is the place of pip's spinner.
        terminal.write(f"\r\x1b[K{text} ")
        terminal.flush()


@contextlib.contextmanager
def shown_progress(terminal):
    """While this context is active, the standard output of this process and its children passes through `forward`."""
    sys.stdout.flush()
    original = os.dup(1)
    reading, writing = os.pipe()
    os.dup2(writing, 1)
    os.close(writing)
    thread = threading.Thread(
        target=lambda: forward(os.fdopen(reading, "rb"), original, terminal, time.monotonic())
    )
    thread.start()
    try:
        yield
    finally:
        sys.stdout.flush()
        os.dup2(original, 1)
        thread.join()
        os.close(original)
        if terminal is not None:
            terminal.write("\r\x1b[K")
            terminal.flush()


def with_progress(hook, *arguments):
    check()
    # tools/build then prints a line for each step, as it does on a terminal.
    os.environ.update(DLC_BUILD_PROGRESS="1", NINJA_STATUS="[%f/%t] ")
    with open_terminal() as terminal, shown_progress(terminal):
        return hook(*arguments)


def get_requires_for_build_wheel(config_settings=None):
    check()
    return scikit_build_core.build.get_requires_for_build_wheel(config_settings)


def get_requires_for_build_editable(config_settings=None):
    check()
    return scikit_build_core.build.get_requires_for_build_editable(config_settings)


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    return with_progress(
        scikit_build_core.build.build_wheel, wheel_directory, config_settings, metadata_directory
    )


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    return with_progress(
        scikit_build_core.build.build_editable, wheel_directory, config_settings, metadata_directory
    )
