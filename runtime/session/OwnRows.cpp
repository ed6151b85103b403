//===- OwnRows.cpp - this rank's share of what all ranks have -----------------===//
#include "runtime/session/OwnRows.h"

#include "runtime/program/Message.h"
#include "runtime/program/Node.h"
#include "runtime/session/Collectives.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace dlc::runtime {

using nlohmann::json;

namespace {

class Call : public LibraryCall {
public:
  Call(const json &desc, std::span<const BufferInfo> buffers, const World &world) {
    auto sizes = desc.at("bytes").get<std::vector<uint64_t>>();
    const int ranks = desc.at("size").get<int>();
    requireSize(kOwnRowsLibrary, ranks, world);
    if (buffers.size() != sizes.size() + 1)
      fail(kOwnRowsLibrary, ": ", sizes.size() + 1, " buffers expected, found ", buffers.size());
    uint64_t all = 0;
    for (size_t i = 0; i < sizes.size(); ++i) {
      if (sizes[i] > kMaxBytes || buffers[i].bytes < sizes[i])
        fail(kOwnRowsLibrary, ": a buffer of ", sizes[i], " bytes expected, found ",
             buffers[i].bytes);
      all += sizes[i];
    }
    const uint64_t share = all / uint64_t(ranks);
    if (all % uint64_t(ranks) != 0 || buffers.back().bytes < share || !buffers.back().writable)
      fail(kOwnRowsLibrary, ": ", all, " bytes must divide into ", ranks,
           " shares, and a buffer to write such a one is required; found ", buffers.back().bytes,
           " bytes", buffers.back().writable ? "" : " to read only");
    const uint64_t begin = share * uint64_t(world.rank()), end = begin + share;
    uint64_t at = 0;
    for (size_t i = 0; i < sizes.size(); at += sizes[i++]) {
      uint64_t first = std::max(at, begin), last = std::min(at + sizes[i], end);
      if (first < last)
        pieces.push_back({i, first - at, first - begin, last - first});
    }
    target = sizes.size();
  }

  void execute(void *const *buffers, const CallContext &) override {
    for (const Piece &piece : pieces)
      std::memcpy(static_cast<char *>(buffers[target]) + piece.to,
                  static_cast<const char *>(buffers[piece.buffer]) + piece.from, piece.bytes);
  }

  std::string implementation() const override { return std::string(kOwnRowsLibrary); }

private:
  struct Piece {
    size_t buffer;
    uint64_t from, to, bytes;
  };
  std::vector<Piece> pieces;
  size_t target = 0;
};

} // namespace

std::unique_ptr<LibraryCall> ownRowsCall(const json &desc, std::span<const BufferInfo> buffers,
                                         World *world) {
  try {
    return std::make_unique<Call>(desc, buffers, world ? *world : World::ofProcess());
  } catch (const json::exception &error) {
    fail(kOwnRowsLibrary, ": wrong description: ", error.what());
  }
}

} // namespace dlc::runtime
