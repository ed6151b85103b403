//===- Npz.h - reads NumPy .npz archives -------------------------------------===//
#ifndef DLC_RUNTIME_DATA_NPZ_H
#define DLC_RUNTIME_DATA_NPZ_H

#include "runtime/program/arrays/Npy.h"

#include <string>
#include <utility>
#include <vector>

namespace dlc::runtime {

/// Returns the arrays of an .npz archive in the order of the file, with their names without ".npy".
/// Uncompressed arrays are views of the mapped file and may be unaligned; compressed arrays are
/// decompressed. Verifies checksums. Throws dlc::Error.
DLC_EXPORT std::vector<std::pair<std::string, NpyArray>> readNpz(const std::string &path);

} // namespace dlc::runtime

#endif // DLC_RUNTIME_DATA_NPZ_H
