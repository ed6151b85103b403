//===- Calibrate.h - measures a profile of this machine -------------------===//
#ifndef DLC_CODEGEN_SELECT_CALIBRATE_H
#define DLC_CODEGEN_SELECT_CALIBRATE_H

#include "codegen/machine/Profiles.h"
#include "codegen/options/Options.h"

namespace dlc {

/// Times some operations with all of their candidates in a separate process, for at most `seconds`.
/// Scales the parameters of the most similar shipped profile by the measured rates. Deviations of
/// single kernels and sizes are stored as samples.
Profile measureProfile(const CompileOptions &options, const cpu::Target &target, double seconds);

/// Measures and stores this machine's profile if the options request it and it does not exist. Only
/// one process measures at a time. Returns an error message if the requested profile is invalid;
/// otherwise an empty string.
std::string measureProfileOnce(const CompileOptions &options);

/// Writes the profile atomically. Returns an error message, or an empty string.
std::string writeProfile(const Profile &profile, const std::string &file);

/// Time limit of a measurement in seconds.
constexpr double kCalibrationSeconds = 4.5;

} // namespace dlc
#endif
