//===- Profiles.h - choice of a machine profile ---------------------------===//
#ifndef DLC_CODEGEN_MACHINE_PROFILES_H
#define DLC_CODEGEN_MACHINE_PROFILES_H

#include "codegen/cpu/Target.h"
#include "codegen/machine/Profile.h"

namespace dlc {

/// Returns the shipped profiles.
llvm::ArrayRef<Profile> shippedProfiles();
/// Returns the shipped profile for this processor; null if there is none.
const Profile *profileFor(const cpu::Target &target);
/// Returns the most similar shipped profile.
const Profile &nearestProfile(const cpu::Target &target);

/// Returns the file in a cache folder that stores this machine's measured profile. Its name depends
/// on the processor, the LLVM version and the revision of the measurement. Empty if no folder is
/// given.
std::string measuredProfileFile(const std::string &cacheDir);

/// The profile that a compilation requests.
struct ProfileChoice {
  /// Empty: the shipped profile for the processor, else this machine's measured one, else the most
  /// similar one. "measured": the measured profile before shipped ones. Otherwise: the name of a
  /// shipped profile, or a file.
  std::string asked;
  std::string cacheDir; ///< folder of the measured profile; empty: none

  /// Returns true if the measured profile is requested but does not exist.
  bool isMissing(const cpu::Target &target) const;
  /// Returns an error message for an invalid choice; empty if it is valid.
  std::string problem() const;
};

/// Returns the chosen profile, which stays valid until the process ends. An unreadable file is
/// treated as missing (see `problem`).
const Profile &profileOf(const ProfileChoice &choice, const cpu::Target &target);
/// Must be called after a profile file was written, so that it is read again.
void forgetProfiles();

} // namespace dlc
#endif
