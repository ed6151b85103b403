//===- Checkpoint.h - checkpoints, with one part per rank if sharded ---------===//
//
// A checkpoint is a .safetensors file. If the state is sharded over ranks, this main file has the
// state that all ranks share and the names of one part file per rank:
//
//   run.safetensors              main file; its metadata `dlc.shared` lists the parts
//   run.safetensors.7-0of2.part  shard of rank 0 of 2; 7 is the number of this checkpoint
//   run.safetensors.7-1of2.part
//
// A part is a .safetensors file of one-dimensional pieces; its metadata has the offset of each
// piece. The main file is written last, and its rename commits the checkpoint: parts that it does
// not list are ignored. Only the names of the files depend on the number of ranks, so a checkpoint
// can be loaded by another number of ranks.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_RUNTIME_SESSION_STATE_CHECKPOINT_H
#define DLC_RUNTIME_SESSION_STATE_CHECKPOINT_H

#include "dlc/Export.h"
#include "runtime/program/arrays/Safetensors.h"

#include <map>
#include <string>
#include <vector>

namespace dlc::runtime {

/// A tensor whose elements may be distributed over several files.
struct SavedTensor {
  DType dtype = DType::F32;
  std::vector<int64_t> shape;
  struct Piece {
    uint64_t begin, count; ///< in elements
    Span data;
  };
  /// Consecutive pieces that cover the tensor.
  std::vector<Piece> pieces;

  /// Copies the elements [begin, begin + count) to `to`.
  DLC_EXPORT void read(uint64_t begin, uint64_t count, void *to) const;
};

struct Checkpoint {
  std::map<std::string, SavedTensor> tensors;
  std::map<std::string, std::string> metadata;
};

/// Reads a checkpoint. Throws dlc::Error if the main file or one of its parts is missing or
/// invalid.
DLC_EXPORT Checkpoint readCheckpoint(const std::string &path);

/// Metadata of a checkpoint's main file that lists the part files and the sharded tensors.
struct SharedMetadata {
  std::vector<std::string> files; ///< file names, in the folder of the main file
  struct Tensor {
    DType dtype;
    std::vector<int64_t> shape;
  };
  std::map<std::string, Tensor> tensors;

  std::string text() const;
};

/// Metadata keys: list of parts (SharedMetadata), checkpoint number, and prefix of a tensor's
/// offset in a part.
constexpr const char kSharedKey[] = "dlc.shared", kNumberKey[] = "dlc.shared.number",
                     kBeginKey[] = "dlc.begin.";

} // namespace dlc::runtime

#endif // DLC_RUNTIME_SESSION_STATE_CHECKPOINT_H
