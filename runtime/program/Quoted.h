//===- Quoted.h - quotes text of a file for messages -------------------------===//
#ifndef DLC_RUNTIME_PROGRAM_QUOTED_H
#define DLC_RUNTIME_PROGRAM_QUOTED_H

#include <string>
#include <string_view>

namespace dlc::runtime {

/// Quotes a text of a file for a message: shortened, and control characters are replaced.
inline std::string formatQuoted(std::string_view text) {
  std::string shown;
  for (char c : text.substr(0, 80))
    shown += c >= ' ' && c != 0x7f ? c : '?';
  return "'" + shown + (text.size() > 80 ? "…'" : "'");
}

} // namespace dlc::runtime

#endif // DLC_RUNTIME_PROGRAM_QUOTED_H
