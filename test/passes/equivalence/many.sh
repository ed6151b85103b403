#!/bin/bash
# Compares thousands of random functions before and after all passes: many.sh BUILD-FOLDER SEEDS [FIRST]. Each seed gives 40 functions of 40
# operations, alternately on vectors and matrices, on images, and on both. Failing functions are saved in BUILD-FOLDER/random-graphs.
set -uo pipefail
build=$(cd "$1" && pwd) seeds=$2 first=${3:-1000}
here=$(cd "$(dirname "$0")" && pwd)
place=$build/random-graphs
mkdir -p "$place"
one() {
  local seed=$1 kinds=(plain images hybrids) python=$build/venv/bin/python opt=$build/bin/dlc-opt
  local kind=${kinds[$((seed % 3))]} hex=--mlir-print-elementsattrs-with-hex-if-larger=-1
  local at=$place/$kind-$seed
  "$python" "$here/random_graphs.py" "$seed" 40 40 "$kind" > "$at.mlir" &&
    "$opt" "$at.mlir" --dlc-evaluate $hex > "$at.before" 2> "$at.log" &&
    "$opt" "$at.mlir" --dlc-simplify --dlc-place --dlc-layout --dlc-verify-layout --dlc-decompose --dlc-fuse --dlc-verify-placement \
      --dlc-verify-layout --dlc-evaluate $hex > "$at.after" 2>> "$at.log" &&
    "$python" "$here/compare.py" "$at.before" "$at.after" 1e-3 >> "$at.log" 2>&1 &&
    rm "$at".* && return
  printf 'FAIL %s: %s\n' "$at" "$(head -c 300 "$at.log")"
}
export -f one
export build here place
failed=$(seq "$first" $((first + seeds - 1)) | xargs -P "$(nproc)" -I{} bash -c 'one {}' | tee /dev/stderr | grep -c '^FAIL')
printf 'random graphs: %d passed, %d failed\n' $((seeds - failed)) "$failed"
[ "$failed" = 0 ]
