"""Calls functions of the build backend: backend.py SOURCE problems ROOT | check ROOT | progress TERMINAL | count STEPS."""

import os
import subprocess
import sys

sys.dont_write_bytecode = True
source, what, argument = sys.argv[1:]
sys.path.insert(0, os.path.join(source, "tools", "python", "wheel"))
import backend

if what == "problems":
    print(*backend.problems(argument), sep="\n", end="\n" if backend.problems(argument) else "")
elif what == "check":
    backend.check(argument)
elif what == "count":
    counts = []
    print(
        *(
            "/".join(map(str, backend.count_step(counts, *map(int, step.split("/")))))
            for step in argument.split()
        )
    )
else:
    with open(argument, "w", encoding="utf-8") as terminal, backend.shown_progress(terminal):
        subprocess.run(
            ["printf", r"build: archive in build\n[1/2] one\nan error\n[2/2] two\n"], check=True
        )
    print("after")
