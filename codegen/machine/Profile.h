//===- Profile.h - measured cost-model parameters of a machine ------------===//
//
// A readable and editable JSON text: the processor, its cost-model parameters (described in
// Figures.def), and samples of kernels that were timed on it.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_CODEGEN_MACHINE_PROFILE_H
#define DLC_CODEGEN_MACHINE_PROFILE_H

#include "codegen/machine/Corrections.h"
#include "codegen/machine/Machine.h"

#include <optional>

namespace dlc {

struct Profile {
  std::string name;              ///< name of a shipped profile; else "measured"
  std::string processor;         ///< description for users
  std::vector<std::string> cpus; ///< CPUs that it applies to, by their LLVM names
  int64_t vectorBits = 512;      ///< vector width for which its rates were measured
  bool tiles = false;            ///< whether the processor has matrix tiles (AMX)
  std::string measured; ///< where it was measured: processor, caches, threads, versions; empty for
                        ///< shipped profiles
  Machine machine;
  std::vector<CostSample> samples;
  Corrections corrections; ///< computed from the samples
};

/// Returns the parameters for another vector width: rates of multiplications scale with it.
Machine machineFor(const Profile &profile, int64_t vectorBits);

/// Parses a profile. Returns std::nullopt and sets `error` if a parameter is missing, unknown or no
/// number, or if the text has another format or version.
std::optional<Profile> parseProfile(const std::string &text, std::string &error);
std::string toText(const Profile &profile);

} // namespace dlc
#endif
