//===- Npz.h - NumPy's archives of arrays -------------------------------------===//
#ifndef DLC_RUNTIME_DATA_NPZ_H
#define DLC_RUNTIME_DATA_NPZ_H

#include "runtime/program/Npy.h"

#include <string>
#include <utility>
#include <vector>

namespace dlc::runtime {

/// The arrays in the file's order, by name without ".npy". Stored ones lie in the mapped file,
/// perhaps at odd addresses; deflated ones are unpacked. Checksums are compared. Throws dlc::Error.
DLC_EXPORT std::vector<std::pair<std::string, NpyArray>> readNpz(const std::string &path);

} // namespace dlc::runtime

#endif // DLC_RUNTIME_DATA_NPZ_H
