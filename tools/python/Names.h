//===- Names.h - what the two modules agree on ----------------------------------===//
#ifndef DLC_TOOLS_PYTHON_NAMES_H
#define DLC_TOOLS_PYTHON_NAMES_H

namespace dlc::python {

/// Of capsules in which the compiler's module hands a std::shared_ptr<runtime::Session> over.
inline constexpr char kSessionCapsule[] = "dlc.session";

} // namespace dlc::python

#endif // DLC_TOOLS_PYTHON_NAMES_H
