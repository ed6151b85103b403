//===- Profiles.h - which profile counts here ------------------------------===//
#ifndef DLC_CODEGEN_MACHINE_PROFILES_H
#define DLC_CODEGEN_MACHINE_PROFILES_H

#include "codegen/cpu/Target.h"
#include "codegen/machine/Profile.h"

namespace dlc {

/// What ships: profiles of the processors that dlc has met.
llvm::ArrayRef<Profile> shippedProfiles();
/// The one that ships and stands for the processor; null where none does.
const Profile *profileFor(const cpu::Target &target);
/// The one that ships and differs least.
const Profile &nearestProfile(const cpu::Target &target);

/// Where this machine's own measurement is kept in a cache folder; another processor, library or
/// version of dlc has another file. Empty for no folder.
std::string measuredProfileFile(const std::string &cacheDir);

/// Which profile is asked for.
struct ProfileChoice {
  /// Empty: the one that ships and stands for the processor, else this machine's own, else the
  /// nearest; "measured": this machine's own before what ships; else the name of one that ships, or
  /// a file.
  std::string asked;
  std::string cacheDir; ///< where this machine's own is kept; empty: nowhere

  /// Whether this machine's own is wanted, and is not there.
  bool isMissing(const cpu::Target &target) const;
  /// What is wrong with the choice; empty: nothing.
  std::string problem() const;
};

/// The profile; it lives as long as the process. What cannot be read is as if it were not there
/// (see `problem`).
const Profile &profileOf(const ProfileChoice &choice, const cpu::Target &target);
/// A file was written: what is known of it is read again.
void forgetProfiles();

} // namespace dlc
#endif
