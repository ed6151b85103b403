//===- Profile.h - measured cost-model parameters of a machine ------------===//
//
// A profile is a JSON text that people can read and edit. It has the processor, its cost-model
// parameters (described in Figures.def), and samples of kernels that were timed on it.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_CODEGEN_MACHINE_PROFILE_H
#define DLC_CODEGEN_MACHINE_PROFILE_H

#include "codegen/machine/Corrections.h"
#include "codegen/machine/Machine.h"

#include <optional>

namespace dlc {

struct Profile {
  std::string name;              ///< name of a built-in profile; otherwise "measured"
  std::string processor;         ///< description of the processor for users
  std::vector<std::string> cpus; ///< LLVM names of the CPUs that the profile applies to
  int64_t vectorBits = 512;      ///< vector width in bits for which the rates were measured
  bool tiles = false;            ///< whether the processor has matrix tiles (AMX)
  /// Machine on which the profile was measured: processor, caches, threads, versions. Empty for a
  /// built-in profile.
  std::string measured;
  Machine machine;
  std::vector<CostSample> samples;
  CostCorrections corrections; ///< corrections of estimates, computed from `samples`
};

/// Returns the cost-model parameters of a profile for another vector width, with which the rates of
/// multiplications scale.
Machine scaleToVectorWidth(const Profile &profile, int64_t vectorBits);

/// Parses the JSON text of a profile. Returns std::nullopt and sets `error` if a parameter is
/// missing, unknown or not a number, or if the text has another format or version.
std::optional<Profile> parseProfile(const std::string &text, std::string &error);
std::string formatProfile(const Profile &profile);

} // namespace dlc
#endif
