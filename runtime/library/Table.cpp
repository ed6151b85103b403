//===- Table.cpp - table of the CPU's kernel libraries --------------------===//
#include "runtime/library/Library.h"

#include "runtime/program/Message.h"

namespace dlc::runtime {

using nlohmann::json;

// Factory functions of library calls, each defined in its library's folder. They throw dlc::Error,
// or the JSON library's exceptions for a malformed description.
using Create = std::unique_ptr<LibraryCall>(const json &desc, std::span<const BufferInfo> buffers,
                                            int threads);
#ifndef DLC_NO_ONEDNN
Create createOneDnnCall;
#endif
Create createTilesCall;
Create createVectorsCall;
Create createBlocksCall;
Create createDirectCall;
Create createWinogradCall;
Create createAttentionCall;
Create createBuiltinCall;

static constexpr struct {
  const char *name;
  Create *create;
} kLibraries[] = {
#ifndef DLC_NO_ONEDNN
    {"onednn", createOneDnnCall}, // most operations of neural networks
#endif
    {"tiles", createTilesCall},         // matmuls and convolutions on AMX tiles
    {"vectors", createVectorsCall},     // f32 matmuls in vector registers
    {"blocks", createBlocksCall},       // matmuls with block-quantized weights of 4 or 8 bits
    {"direct", createDirectCall},       // convolutions with constant weights, computed as matmuls
    {"winograd", createWinogradCall},   // Winograd convolutions
    {"attention", createAttentionCall}, // attention without a stored score matrix
    {"builtin", createBuiltinCall},     // operations that no other library implements
};

std::unique_ptr<LibraryCall> createCall(std::string_view library, const json &desc,
                                        std::span<const BufferInfo> buffers, int threads) {
  std::string known;
  for (const auto &row : kLibraries) {
    known += std::string(known.empty() ? "" : ", ") + row.name;
    if (row.name != library)
      continue;
    try {
      return row.create(desc, buffers, threads);
    } catch (const json::exception &error) {
      fail(library, ": invalid description: ", error.what());
    }
  }
  fail("unknown library '", library, "'; the libraries of a CPU are ", known);
}

} // namespace dlc::runtime
