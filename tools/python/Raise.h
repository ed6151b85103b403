//===- Raise.h - raises Python exceptions ---------------------------------===//
#ifndef DLC_TOOLS_PYTHON_RAISE_H
#define DLC_TOOLS_PYTHON_RAISE_H

#include <nanobind/nanobind.h>

#include <string_view>

namespace dlc::python {

/// Sets a Python exception of the given type. Invalid UTF-8 in the message is replaced with U+FFFD,
/// because the message may quote names from a file.
inline void setError(PyObject *type, std::string_view message) {
  nanobind::object text =
      nanobind::steal(PyUnicode_DecodeUTF8(message.data(), Py_ssize_t(message.size()), "replace"));
  if (text.is_valid())
    PyErr_SetObject(type, text.ptr());
}

/// Sets a Python exception of the given type and throws nanobind::python_error.
[[noreturn]] inline void raise(PyObject *type, std::string_view message) {
  setError(type, message);
  throw nanobind::python_error();
}

} // namespace dlc::python

#endif // DLC_TOOLS_PYTHON_RAISE_H
