//===- Table.cpp - the libraries that a CPU has -------------------------------===//
#include "runtime/library/Library.h"

#include "runtime/program/Message.h"

namespace dlc::runtime {

using nlohmann::json;

// Each library's own files define one. All throw dlc::Error, or what reading JSON throws.
using Create = std::unique_ptr<LibraryCall>(const json &desc, std::span<const BufferInfo> buffers,
                                            int threads);
Create createOneDnnCall;
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
    {"onednn", createOneDnnCall},       // most of what networks do
    {"tiles", createTilesCall},         // products and convolutions on tiles (AMX)
    {"vectors", createVectorsCall},     // products of f32
    {"blocks", createBlocksCall},       // products by weights of few bits in blocks
    {"direct", createDirectCall},       // convolutions with constant weights, as products
    {"winograd", createWinogradCall},   // convolutions with fewer products
    {"attention", createAttentionCall}, // without the score matrix
    {"builtin", createBuiltinCall},     // what no library does
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
      fail(library, ": wrong description: ", error.what());
    }
  }
  fail("unknown library '", library, "': a CPU has ", known);
}

} // namespace dlc::runtime
