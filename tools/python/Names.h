//===- Names.h - names that several files of the Python modules use -------===//
#ifndef DLC_TOOLS_PYTHON_NAMES_H
#define DLC_TOOLS_PYTHON_NAMES_H

namespace dlc::python {

/// Name of the Python capsules in which the compiler's module passes a
/// std::shared_ptr<runtime::Session> to the runtime's module.
inline constexpr char kSessionCapsule[] = "dlc.session";

/// Interned Python string of an attribute's name. The string is created only once, because each
/// call of a program accesses attributes of hundreds of tensors.
#define DLC_NAME(text)                                                                             \
  [] {                                                                                             \
    static PyObject *const name = PyUnicode_InternFromString(text);                                \
    return name;                                                                                   \
  }()

} // namespace dlc::python

#endif // DLC_TOOLS_PYTHON_NAMES_H
