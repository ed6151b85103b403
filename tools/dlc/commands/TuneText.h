//===- TuneText.h - tuning measurements as text ---------------------------===//
#ifndef DLC_TOOLS_DLC_COMMANDS_TUNETEXT_H
#define DLC_TOOLS_DLC_COMMANDS_TUNETEXT_H

#include "codegen/select/measure/TuningDatabase.h"

namespace dlc::cli {

/// Returns the measurements of all candidates of one operation as a table.
std::string measurementText(const TuningEntry &entry, const std::string &name);

} // namespace dlc::cli

#endif // DLC_TOOLS_DLC_COMMANDS_TUNETEXT_H
