//===- prelude.cuh - declarations that all kernels use ---------------------------===//
#pragma once
#pragma nv_diag_suppress 177 // unused functions
#include "arithmetic.cuh"
#include "functions.cuh"
#include "random.cuh"
#include "reductions.cuh"
