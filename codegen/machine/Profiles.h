//===- Profiles.h - choice of a machine profile ---------------------------===//
#ifndef DLC_CODEGEN_MACHINE_PROFILES_H
#define DLC_CODEGEN_MACHINE_PROFILES_H

#include "codegen/cpu/target/Target.h"
#include "codegen/machine/Profile.h"

namespace dlc {

/// Returns the built-in profiles.
llvm::ArrayRef<Profile> getBuiltinProfiles();
/// Returns the built-in profile for a processor; null if there is none.
const Profile *findExactProfile(const cpu::Target &target);
/// Returns the built-in profile of the processor that is most similar to `target`.
const Profile &findNearestProfile(const cpu::Target &target);

/// Returns the name of the file in the cache folder that stores this machine's measured profile.
/// The name depends on the processor, the LLVM version and the revision of the measurement. Returns
/// an empty string if `cacheDir` is empty.
std::string getMeasuredProfilePath(const std::string &cacheDir);

/// Machine profile that a compilation requests (`--profile`).
struct ProfileChoice {
  /// Requested profile. Empty: the built-in profile for the processor, or this machine's measured
  /// profile, or the most similar built-in profile, in this order. "measured": the measured profile
  /// is preferred to built-in ones. Otherwise: the name of a built-in profile, or of a file.
  std::string asked;
  std::string cacheDir; ///< cache folder with the measured profile; empty: no such folder

  /// Returns true if the measured profile is requested but does not exist.
  bool isMissing(const cpu::Target &target) const;
  /// Returns an error message if the requested profile does not exist or cannot be read; an empty
  /// string otherwise.
  std::string problem() const;
};

/// Returns the profile that `choice` requests. The reference stays valid until the process ends. A
/// file that cannot be read is treated as missing; `problem` returns its error.
const Profile &chooseProfile(const ProfileChoice &choice, const cpu::Target &target);
/// Discards profiles that were read from files, so that they are read again. Must be called after a
/// profile file was written.
void clearProfileCache();

} // namespace dlc
#endif
