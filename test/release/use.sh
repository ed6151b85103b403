#!/bin/sh
# Uses an unpacked release archive on a machine without compiler, Python or LLVM.
# use.sh FOLDER INPUTS: INPUTS contains models, data, and programs that were built against the archive. The last line has the counts.
folder=$1 inputs=$2 passed=0 failed=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Resolves every symbol at load time.
export LD_BIND_NOW=1 DLC_CACHE_DIR="$work/cache"

# try WHAT TEXT COMMAND..: checks that the command succeeds and that its output contains TEXT, if given.
try() {
  what=$1 text=$2
  shift 2
  if "$@" >"$work/said" 2>&1 && { [ -z "$text" ] || grep -q -e "$text" "$work/said"; }; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    printf 'FAIL %s: expected "%s"; it said:\n' "$what" "$text"
    tail -10 "$work/said"
  fi
}

try version '^dlc [0-9]' "$folder/bin/dlc" --version
try devices '^libcuda: ' "$folder/bin/dlc" devices
try onnx '' "$folder/bin/dlc" compile "$inputs/model.onnx" --shape bytes=1x2048 -o "$work/onnx.dlcx"
try run target_label "$folder/bin/dlc" run "$work/onnx.dlcx"
try inspect 'arena' "$folder/bin/dlc" inspect "$work/onnx.dlcx" --repeat 3
try mlir '' "$folder/bin/dlc" compile "$inputs/model.mlir" -o "$work/model.dlcx"
try c "^0 4 8 12" env LD_LIBRARY_PATH="$folder/lib" "$inputs/c" "$work/model.dlcx"
try tracer "probabilities, sum 1.0000" env LD_LIBRARY_PATH="$folder/lib:$folder/lib/dlc" "$inputs/tracer"
try step "" "$folder/bin/dlc" compile "$inputs/mlp.onnx" --train --batch 8 -o "$work/step.dlcx"
try train 'loss' "$folder/bin/dlc" train "$work/step.dlcx" --data "$inputs/data.npz" --epochs 2
try opt 'dlc.relu' "$folder/bin/dlc-opt" --dlc-simplify --canonicalize "$inputs/model.mlir"
try passes 'dlc-simplify' "$folder/bin/dlc-opt" --help
try conformance ' 0 failed' "$folder/bin/dlc-conformance" --sample "${DLC_SAMPLE:-20}"
printf 'release: %d passed, %d failed\n' $passed $failed
[ $failed = 0 ]
