//===- Raise.h - Python's exceptions ---------------------------------------------===//
#ifndef DLC_TOOLS_PYTHON_RAISE_H
#define DLC_TOOLS_PYTHON_RAISE_H

#include <nanobind/nanobind.h>

#include <string_view>

namespace dlc::python {

/// Sets a Python exception of that type. A message may quote names of a file, which need not be
/// UTF-8: what is not becomes U+FFFD.
inline void setError(PyObject *type, std::string_view message) {
  nanobind::object text =
      nanobind::steal(PyUnicode_DecodeUTF8(message.data(), Py_ssize_t(message.size()), "replace"));
  if (text.is_valid())
    PyErr_SetObject(type, text.ptr());
}

/// Throws it.
[[noreturn]] inline void raise(PyObject *type, std::string_view message) {
  setError(type, message);
  throw nanobind::python_error();
}

} // namespace dlc::python

#endif // DLC_TOOLS_PYTHON_RAISE_H
