//===- Watch.cpp - detects changes of tensors that a program holds as constants ---------------===//
#include "tools/python/Watch.h"

#include "tools/python/Names.h"

#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstring>

namespace nb = nanobind;

namespace dlc::python {

static int64_t toInt64(nb::object value) {
  if (!value.is_valid())
    throw nb::python_error();
  return nb::cast<int64_t>(value);
}

TensorChangeDetector::Seen::Seen(nb::handle tensor, size_t bytes) {
  data = reinterpret_cast<const char *>(
      toInt64(nb::steal(PyObject_CallMethodNoArgs(tensor.ptr(), DLC_NAME("data_ptr")))));
  // Tensors that were created in inference mode have no version counter.
  nb::object counted = nb::steal(PyObject_GetAttr(tensor.ptr(), DLC_NAME("_version")));
  if (!counted.is_valid())
    PyErr_Clear();
  version = counted.is_valid() ? toInt64(counted) : -1;
  size_t part = std::min(bytes, sizeof(uint64_t));
  for (size_t i = 0; part && i < kSamples; ++i)
    std::memcpy(&sample[i], data + (bytes - part) * (2 * i + 1) / (2 * kSamples), part);
}

TensorChangeDetector::TensorChangeDetector(nb::list tensors, std::vector<size_t> given)
    : bytes(std::move(given)) {
  for (size_t i = 0; i < bytes.size(); ++i)
    seen.emplace_back(tensors[i], bytes[i]);
}

bool TensorChangeDetector::isUnchanged(nb::list tensors) const {
  if (tensors.size() != seen.size())
    return false;
  for (size_t i = 0; i < seen.size(); ++i)
    if (Seen(tensors[i], bytes[i]) != seen[i])
      return false;
  return true;
}

void bindWatch(nb::module_ &module) {
  nb::class_<TensorChangeDetector>(module, "Watch", "Tensors that a program holds as constants.")
      .def(nb::init<nb::list, std::vector<size_t>>(), nb::arg("tensors"), nb::arg("bytes"))
      .def("is_unchanged", &TensorChangeDetector::isUnchanged, nb::arg("tensors"));
}

} // namespace dlc::python
