//===- Calibrate.h - measures a profile of this machine -------------------===//
#ifndef DLC_CODEGEN_SELECT_CALIBRATE_H
#define DLC_CODEGEN_SELECT_CALIBRATE_H

#include "codegen/machine/Profiles.h"
#include "codegen/options/Options.h"

namespace dlc {

/// Times calibration operations with all of their candidates in a separate process, for at most
/// `seconds`. Scales the parameters of the most similar built-in profile by the measured rates.
/// Deviations of single kernels and sizes are stored as samples.
Profile measureProfile(const CompileOptions &options, const cpu::Target &target, double seconds);

/// Measures and stores this machine's profile, if the options request it and no profile is stored.
/// Only one process measures at a time. Returns an error message if the requested profile is
/// invalid; otherwise an empty string.
std::string measureProfileOnce(const CompileOptions &options);

/// Writes the profile to a file atomically. Returns an error message; empty on success.
std::string writeProfile(const Profile &profile, const std::string &file);

/// Time limit in seconds for measuring a machine's profile.
constexpr double kCalibrationSeconds = 4.5;

} // namespace dlc
#endif
