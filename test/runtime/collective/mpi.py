"""Runs each scenario of dlc_ranks in worlds of processes with several numbers of ranks, and checks its output.

usage: mpi.py DLC_RANKS MPIRUN
"""

import re
import sys

import worlds

program, launcher = sys.argv[1:]
failed = passed = 0


def check(name, holds, found):
    global failed, passed
    if holds:
        passed += 1
    else:
        failed += 1
        print(f"FAIL {name}: found {found}")


def goes(ranks, scenario, wanted, *arguments, **options):
    status, out, err, _ = worlds.run(ranks, [program, scenario, *arguments], launcher, **options)
    check(f"{scenario} on {ranks}", status == 0 and re.search(wanted, out), (status, out, err))
    return out


def ends(ranks, scenario, wrong, wanted, timeout=20, most=10):
    """One rank does something wrong; all end, and the message names it."""
    status, out, err, took = worlds.run(
        ranks, [program, scenario, wrong], launcher, {"DLC_WORLD_TIMEOUT": str(timeout)}
    )
    check(
        f"rank {wrong} of {ranks} {scenario}",
        status != 0 and re.search(wanted, err) and took < most,
        (status, took, out, err),
    )


for ranks in (2, 3, 4):
    goes(ranks, "correct", f"{ranks} ranks of mpi: latency .* GB/s")
bits = {ranks: goes(ranks, "ordered", "bits [0-9a-f]{16}") for ranks in (1, 2, 4)}
check("ordered sums", len(set(bits.values())) == 1, bits)
goes(2, "large", "in pieces: right")
goes(2, "slow", "3 s of waiting took little", 1, environment={"DLC_WORLD_TIMEOUT": "1"})
goes(2, "works", "a long command: waited for", 0, environment={"DLC_WORLD_TIMEOUT": "1"})
shares = goes(2, "shares", "rank")
processors = int(re.search(r"(\d+) processors", goes(1, "shares", "rank"))[1])
check(
    "shares", sum(map(int, re.findall(r"(\d+) processors", shares))) == max(2, processors), shares
)

ends(
    3,
    "differs",
    2,
    r"same program; rank \[2\] has a different one than rank 0: 'all_reduce f32 11'",
)
ends(3, "dies", 0, r"rank 1 of 3, step 3: rank 0 died in step [23] \(process \d+\)")
ends(2, "dies", 1, r"rank 0 of 2, step 3: rank 1 died in step [23]")
ends(3, "throws", 1, "rank 1 of 3, step 3: no memory is left")
ends(3, "leaves", 1, "rank 1 left in step 2 after ")
ends(2, "hangs", 0, "rank 1 of 2, step 3: rank 0 hangs in step 3", timeout=2)
ends(2, "stops", 1, "rank 0 of 2, step 3: rank 1 has sent no heartbeat for 2 s", timeout=2)

print(f"worlds: {passed} passed, {failed} failed")
sys.exit(failed > 0)
