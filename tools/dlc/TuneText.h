//===- TuneText.h - contests and databases, for people --------------------===//
#ifndef DLC_TOOLS_DLC_TUNETEXT_H
#define DLC_TOOLS_DLC_TUNETEXT_H

#include "codegen/select/TuningDatabase.h"

namespace dlc::cli {

/// All that is known of one operation's candidates, as a table.
std::string contestText(const TuningEntry &entry, const std::string &name);

} // namespace dlc::cli

#endif // DLC_TOOLS_DLC_TUNETEXT_H
