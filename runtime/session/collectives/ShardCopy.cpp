//===- ShardCopy.cpp - copies this rank's shard of replicated data -----------===//
#include "runtime/session/collectives/ShardCopy.h"

#include "runtime/library/schema/Schema.h"
#include "runtime/program/Message.h"
#include "runtime/program/Node.h"
#include "runtime/session/collectives/Collectives.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace dlc::runtime {

using nlohmann::json;

namespace {

std::vector<ShardPiece> read(const json &desc, std::span<const BufferInfo> buffers,
                             const World &world) {
  const auto fields = schema::OwnRows::read(desc, std::string(kShardCopyLibrary));
  const std::vector<uint64_t> sizes(fields.bytes.begin(), fields.bytes.end());
  const bool isForSize = fields.size.has_value();
  if (isForSize)
    requireSize(kShardCopyLibrary, int(*fields.size), world);
  else if (!fields.share)
    fields.complain("'share' is missing");
  if (buffers.size() != sizes.size() + 1)
    fail(kShardCopyLibrary, ": required: ", sizes.size() + 1, " buffers; found: ", buffers.size());
  uint64_t all = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] > kMaxBytes || buffers[i].bytes < sizes[i])
      fail(kShardCopyLibrary, ": required: a buffer of ", sizes[i],
           " bytes; found: ", buffers[i].bytes);
    all += sizes[i];
  }
  const auto ranks = uint64_t(world.size());
  const uint64_t share = isForSize ? all / ranks : uint64_t(*fields.share);
  if (share > 0 && all / share < ranks)
    fail(kShardCopyLibrary, ": required: at most ", all / share, " ranks; found: ", ranks,
         "; start fewer ranks");
  if ((isForSize && all % ranks != 0) || buffers.back().bytes < share || !buffers.back().writable)
    fail(kShardCopyLibrary, ": required: ", all, " bytes that are divisible into ", ranks,
         " shares, and a writable buffer for one share; found: ", buffers.back().bytes, " bytes",
         buffers.back().writable ? "" : " (read-only)");
  const uint64_t begin = share * uint64_t(world.rank()), end = begin + share;
  std::vector<ShardPiece> pieces;
  uint64_t at = 0;
  for (size_t i = 0; i < sizes.size(); at += sizes[i++]) {
    uint64_t first = std::max(at, begin), last = std::min(at + sizes[i], end);
    if (first < last)
      pieces.push_back({i, sizes.size(), first - at, first - begin, last - first});
  }
  return pieces;
}

class ShardCopyCall : public LibraryCall {
public:
  explicit ShardCopyCall(std::vector<ShardPiece> given) : pieces(std::move(given)) {}

  void execute(void *const *buffers, const CallContext &) override {
    for (const ShardPiece &piece : pieces)
      std::memcpy(static_cast<char *>(buffers[piece.target]) + piece.to,
                  static_cast<const char *>(buffers[piece.buffer]) + piece.from, piece.bytes);
  }

  std::string implementation() const override { return std::string(kShardCopyLibrary); }

private:
  std::vector<ShardPiece> pieces;
};

} // namespace

std::vector<ShardPiece> shardPieces(const json &desc, std::span<const BufferInfo> buffers,
                                    World *world) {
  return read(desc, buffers, world ? *world : World::ofProcess());
}

std::unique_ptr<LibraryCall> shardCopyCall(const json &desc, std::span<const BufferInfo> buffers,
                                           World *world) {
  return std::make_unique<ShardCopyCall>(shardPieces(desc, buffers, world));
}

} // namespace dlc::runtime
