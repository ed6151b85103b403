# Measuring beside other work: killed at any moment, two at once, a machine that is busy, in the
# background of a program that runs.
import json
import os
import random
import re
import signal
import subprocess
import sys
import time

what, model, folder = sys.argv[1:]
db = os.path.join(folder, what + ".jsonl")


def command(*more, threads=1):
    return [
        "dlc",
        "tune",
        model,
        "--db",
        db,
        "--threads",
        str(threads),
        "--cache",
        os.path.join(folder, "cache"),
        "--spread",
        "1ms",
        *more,
    ]


def lines():
    with open(db) as file:
        return [json.loads(line) for line in file.read().splitlines()[1:]]


def disturbed(text):
    return int(re.search(r"(\d+) disturbed", text).group(1))


def check_finished(*texts):
    """What began is over, but for what a busy machine disturbed or left uncertain: it goes on where it is."""
    unfinished = [line for line in lines() if line.get("unfinished")]
    uncertain = sum(int(re.search(r"\((\d+) uncertain\)", text).group(1)) for text in texts)
    assert len(unfinished) <= uncertain + sum(disturbed(text) for text in texts), (
        unfinished,
        texts,
    )


def kill():
    # What one that is killed says that it has measured, the next one knows.
    randomly, kills = random.Random(5), 0
    for _ in range(6):
        if os.path.exists(db):
            os.remove(db)
        tuner = subprocess.Popen(command(), stdout=subprocess.PIPE, text=True)
        done = 0
        if randomly.random() < 0.7:
            tuner.stdout.readline()
            done = 1
        time.sleep(randomly.random() * 0.2)
        if tuner.poll() is None:
            kills += 1
        tuner.send_signal(signal.SIGKILL)
        done += len(re.findall(r"^ *\d+/\d+ ", tuner.stdout.read(), re.M))
        tuner.wait()
        again = subprocess.run(command(), capture_output=True, text=True)
        assert again.returncode == 0, again.stderr
        known = int(re.search(r"(\d+) known", again.stdout).group(1))
        assert known + disturbed(again.stdout) >= done, (known, done, again.stdout)
        check_finished(again.stdout)
    assert kills > 0
    print("killed", "and nothing lost")
    # In the midst of a contest: its timings are there already.
    for _ in range(20):
        os.remove(db)
        tuner = subprocess.Popen(command(), stdout=subprocess.DEVNULL)
        begun = 0
        while tuner.poll() is None and not begun:
            time.sleep(0.002)
            if os.path.exists(db):
                with open(db) as file:
                    text = file.read()
                last = text[: text.rfind("\n")].splitlines()[-1]
                if '"rounds"' in last:
                    tuner.send_signal(signal.SIGKILL)
                    begun = sum(
                        t is not None
                        for c in json.loads(last)["candidates"]
                        for t in c.get("rounds", [])
                    )
        tuner.wait()
        again = subprocess.run(command(), capture_output=True, text=True)
        resumed = re.search(r"(\d+) timings were reused", again.stdout)
        if begun and resumed:
            assert int(resumed.group(1)) >= begun, (begun, again.stdout)
            print("went on", "where it was killed")
            return
    print("never in the midst")


def two():
    # What each says that it has measured is there; a machine that is busy may have kept it from some.
    tuners = [
        subprocess.Popen(command(threads=n), stdout=subprocess.PIPE, text=True) for n in (1, 2)
    ]
    said = [tuner.communicate()[0] for tuner in tuners]
    assert all(tuner.returncode == 0 for tuner in tuners)
    for n, text in zip((1, 2), said):
        there = {line["operation"] for line in lines() if line["settings"]["threads"] == str(n)}
        measured = int(re.search(r": (\d+) measured", text).group(1))
        assert len(there) >= measured and measured + disturbed(text) >= 3, (there, text)
    check_finished(*said)
    print("as many from two", "at once as there are")


def busy():
    cores = os.cpu_count()
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2 * cores)]
    try:
        time.sleep(0.3)
        out = subprocess.run(
            command("--budget", "4s", threads=cores), capture_output=True, text=True
        )
    finally:
        for loop in loops:
            loop.kill()
    text = out.stdout + out.stderr
    noticed = re.search(r"contention: \d+ timings|other work on this machine disturbed", text)
    print("contention noticed" if noticed else text)


def background():
    # How many runs it takes until an operation is measured depends on the machine.
    cache, repeat = os.path.join(folder, "background"), 30000
    for _ in range(5):
        out = subprocess.run(
            [
                "dlc",
                "run",
                model,
                "--threads",
                "1",
                "--cache",
                cache,
                "--tune-in-background",
                "20s",
                "--repeat",
                str(repeat),
            ],
            capture_output=True,
            text=True,
        )
        assert out.returncode == 0, (out.returncode, out.stdout, out.stderr)
        swaps = re.search(r"tuned in the background: \d+ kernel swaps", out.stdout)
        assert swaps, (out.stdout, out.stderr)
        found = subprocess.run(
            ["dlc", "tune-db", "show", os.path.join(cache, "tuning.jsonl")],
            capture_output=True,
            text=True,
        )
        if re.search(r"[1-9]\d* of \d+ operations", found.stdout):
            print("tuned in", "the background")
            return
        repeat *= 3
    print(out.stdout, out.stderr, found.stdout, found.stderr)


{"kill": kill, "two": two, "busy": busy, "background": background}[what]()
