//===- StateText.h - formatting of states for messages -----------------------===//
#ifndef DLC_RUNTIME_SESSION_STATE_STATETEXT_H
#define DLC_RUNTIME_SESSION_STATE_STATETEXT_H

#include "dlc/DType.h"
#include "runtime/program/Message.h"

#include <string>
#include <vector>

namespace dlc::runtime {

inline std::string formatType(DType dtype, const std::vector<int64_t> &shape) {
  return message(dtypeName(dtype), " ", formatList(shape));
}

/// Formats the first five names of a list and the number of the remaining ones.
inline std::string formatFirstNames(const std::vector<std::string> &names) {
  std::string text;
  for (size_t i = 0; i < names.size() && i < 5; ++i)
    text += (i ? ", '" : "'") + names[i] + "'";
  return names.size() <= 5 ? text : message(text, " and ", names.size() - 5, " more");
}

} // namespace dlc::runtime

#endif // DLC_RUNTIME_SESSION_STATE_STATETEXT_H
