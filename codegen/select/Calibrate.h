//===- Calibrate.h - a profile of this machine, measured --------------------===//
#ifndef DLC_CODEGEN_SELECT_CALIBRATE_H
#define DLC_CODEGEN_SELECT_CALIBRATE_H

#include "codegen/machine/Profiles.h"
#include "codegen/options/Options.h"

namespace dlc {

/// Times some operations with all their candidates, in a process of its own, for `seconds` at most:
/// the figures of the nearest profile that ships are scaled by what the machine reaches, and what
/// differs by kernel and size is kept as samples.
Profile measureProfile(const CompileOptions &options, const cpu::Target &target, double seconds);

/// Measures and keeps this machine's profile where the options want it and it is not there, once
/// however many processes ask. What is wrong with the profile that is asked for; else nothing.
std::string measureProfileOnce(const CompileOptions &options);

/// Writes the profile whole or not at all; what went wrong, else nothing.
std::string writeProfile(const Profile &profile, const std::string &file);

/// Seconds that a measurement takes at most.
constexpr double kCalibrationSeconds = 4.5;

} // namespace dlc
#endif
