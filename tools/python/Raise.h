//===- Raise.h - raises Python exceptions ---------------------------------===//
#ifndef DLC_TOOLS_PYTHON_RAISE_H
#define DLC_TOOLS_PYTHON_RAISE_H

#include <nanobind/nanobind.h>

#include <string_view>

namespace dlc::python {

/// Sets a Python exception of this type. A message may quote names from a file that are not valid
/// UTF-8; invalid bytes are replaced with U+FFFD.
inline void setError(PyObject *type, std::string_view message) {
  nanobind::object text =
      nanobind::steal(PyUnicode_DecodeUTF8(message.data(), Py_ssize_t(message.size()), "replace"));
  if (text.is_valid())
    PyErr_SetObject(type, text.ptr());
}

/// Sets the exception and throws nanobind::python_error.
[[noreturn]] inline void raise(PyObject *type, std::string_view message) {
  setError(type, message);
  throw nanobind::python_error();
}

} // namespace dlc::python

#endif // DLC_TOOLS_PYTHON_RAISE_H
