//===- EpilogueOps.h - activations and binary ops of epilogues ------------===//
//
// The files compiled for one instruction set (AVX-512 or AVX2) include this header, so it contains
// no inline functions.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_RUNTIME_EPILOGUE_EPILOGUEOPS_H
#define DLC_RUNTIME_EPILOGUE_EPILOGUEOPS_H

#include <stdint.h>

namespace dlc {

/// Activation in the epilogue of a matmul or convolution (a row of EpilogueOps.def).
enum class Activation : uint8_t {
#define ACTIVATION(enumerator, ...) enumerator,
#define PARAMETRIC_ACTIVATION(enumerator, ...) enumerator,
#include "runtime/epilogue/EpilogueOps.def"
};

/// Epilogue op with a second operand (a row of EpilogueOps.def).
enum class EpilogueBinary : uint8_t {
#define BINARY(enumerator, ...) enumerator,
#include "runtime/epilogue/EpilogueOps.def"
};

} // namespace dlc

#endif // DLC_RUNTIME_EPILOGUE_EPILOGUEOPS_H
