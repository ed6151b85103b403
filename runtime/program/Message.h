//===- Message.h - builds error messages from parts --------------------------===//
#ifndef DLC_RUNTIME_PROGRAM_MESSAGE_H
#define DLC_RUNTIME_PROGRAM_MESSAGE_H

#include "dlc/Error.h"

#include <sstream>
#include <string>

namespace dlc::runtime {

template <typename... Parts> std::string message(const Parts &...parts) {
  std::ostringstream out;
  (out << ... << parts);
  return std::move(out).str();
}

template <typename... Parts> [[noreturn]] void fail(const Parts &...parts) {
  throw Error(message(parts...));
}

template <typename Range> std::string formatList(const Range &values) {
  std::ostringstream out;
  const char *separator = "[";
  for (const auto &value : values) {
    out << separator << value;
    separator = ", ";
  }
  out << (*separator == '[' ? "[]" : "]");
  return std::move(out).str();
}

} // namespace dlc::runtime

#endif // DLC_RUNTIME_PROGRAM_MESSAGE_H
