//===- Names.h - constants shared by the two Python modules ---------------===//
#ifndef DLC_TOOLS_PYTHON_NAMES_H
#define DLC_TOOLS_PYTHON_NAMES_H

namespace dlc::python {

/// Name of the Python capsules in which the compiler's module passes a
/// std::shared_ptr<runtime::Session> to the runtime's module.
inline constexpr char kSessionCapsule[] = "dlc.session";

} // namespace dlc::python

#endif // DLC_TOOLS_PYTHON_NAMES_H
