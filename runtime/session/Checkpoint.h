//===- Checkpoint.h - tensors of a file, and of the parts that ranks wrote ----===//
//
// A checkpoint is a .safetensors file. That of a step whose state is split over ranks has the rest
// of the state in it, and names a file of each rank:
//
//   run.safetensors              what all ranks have alike; its metadata `dlc.shared` names
//   run.safetensors.7-0of2.part  what rank 0 of 2 has, 7: the number of this checkpoint
//   run.safetensors.7-1of2.part
//
// A part is a .safetensors file of one-dimensional pieces; its metadata says where each begins. The
// first file is written last, and its rename makes the whole: parts that it does not name are
// nobody's. Nothing in it depends on how many ranks there were but the names of the files.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_RUNTIME_SESSION_CHECKPOINT_H
#define DLC_RUNTIME_SESSION_CHECKPOINT_H

#include "dlc/Export.h"
#include "runtime/program/Safetensors.h"

#include <map>
#include <string>
#include <vector>

namespace dlc::runtime {

/// A tensor, wherever its elements lie.
struct SavedTensor {
  DType dtype = DType::F32;
  std::vector<int64_t> shape;
  struct Piece {
    uint64_t begin, count; ///< elements
    Span data;
  };
  /// One after another, all of the tensor.
  std::vector<Piece> pieces;

  /// Elements [begin, begin + count).
  DLC_EXPORT void read(uint64_t begin, uint64_t count, void *to) const;
};

struct Checkpoint {
  std::map<std::string, SavedTensor> tensors;
  std::map<std::string, std::string> metadata;
};

/// Throws dlc::Error where the file or one of its parts is missing, or not what it must be.
DLC_EXPORT Checkpoint readCheckpoint(const std::string &path);

/// What the first file says of the parts.
struct SharedMetadata {
  std::vector<std::string> files; ///< in its folder
  struct Tensor {
    DType dtype;
    std::vector<int64_t> shape;
  };
  std::map<std::string, Tensor> tensors;

  std::string text() const;
};

/// The keys of metadata.
constexpr const char kSharedKey[] = "dlc.shared", kNumberKey[] = "dlc.shared.number",
                     kBeginKey[] = "dlc.begin.";

} // namespace dlc::runtime

#endif // DLC_RUNTIME_SESSION_CHECKPOINT_H
