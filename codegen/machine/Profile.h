//===- Profile.h - a machine, as the cost model knows it -------------------===//
//
// A text of JSON that people can read and edit: the processor, its figures (Figures.def says what
// each is), and samples of kernels that were timed on it.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_CODEGEN_MACHINE_PROFILE_H
#define DLC_CODEGEN_MACHINE_PROFILE_H

#include "codegen/machine/Corrections.h"
#include "codegen/machine/Machine.h"

#include <optional>

namespace dlc {

struct Profile {
  std::string name;              ///< of one that ships; else "measured"
  std::string processor;         ///< for people
  std::vector<std::string> cpus; ///< those that it stands for, as LLVM names them
  int64_t vectorBits = 512;      ///< of registers that its rates were reached with
  bool tiles = false;            ///< whether the processor multiplies tiles
  std::string measured;          ///< on what: processor, caches, threads, versions; else empty
  Machine machine;
  std::vector<CostSample> samples;
  Corrections corrections; ///< of the samples
};

/// The figures on a processor of such vectors: rates of multiplications follow their length.
Machine machineFor(const Profile &profile, int64_t vectorBits);

/// Nothing, and what is wrong in `error`: a figure that is missing or unknown, a number that is
/// none, a text of another kind or version.
std::optional<Profile> parseProfile(const std::string &text, std::string &error);
std::string toText(const Profile &profile);

} // namespace dlc
#endif
