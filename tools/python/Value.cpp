//===- Value.cpp - description of a model's input or output ---------------===//
#include "tools/python/Value.h"

#include "runtime/session/capi/ResultShape.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

namespace nb = nanobind;

namespace dlc::python {

std::string shapeText(const int64_t *dims, int rank) {
  std::string text = "[";
  for (int d = 0; d < rank; ++d)
    text += (d ? ", " : "") + std::to_string(dims[d]);
  return text + "]";
}

std::string Value::text() const {
  std::string text = typeName + "[";
  if (!hasRank)
    return text + "...]";
  for (size_t d = 0; d < shape.size(); ++d)
    text += (d ? ", " : "") + (shape[d] >= 0        ? std::to_string(shape[d])
                               : symbols[d].empty() ? "?"
                                                    : symbols[d]);
  return text + "]";
}

bool Value::fits(const int64_t *dims, int rank) const {
  if (!hasRank)
    return true;
  if (rank != int(shape.size()))
    return false;
  for (int d = 0; d < rank; ++d)
    if (shape[size_t(d)] >= 0 && shape[size_t(d)] != dims[d])
      return false;
  return true;
}

Value toValue(const runtime::Plan &plan, const runtime::TensorInfo &info) {
  return {info.name,
          info.dtype,
          std::string(dtypeName(info.dtype)),
          true,
          runtime::dynamicShape(info),
          std::vector<std::string>(info.shape.size()),
          plan.devices[info.device].name,
          info.layout};
}

static Value makeValue(std::string name, std::string dtype, std::optional<nb::sequence> shape,
                       std::string device) {
  Value value{std::move(name), parseDType(dtype), dtype, shape.has_value(), {}, {}, device, {}};
  if (!shape)
    return value;
  for (nb::handle dim : *shape) {
    bool isNumber = PyLong_Check(dim.ptr());
    value.shape.push_back(isNumber ? nb::cast<int64_t>(dim) : -1);
    value.symbols.push_back(isNumber || dim.is_none() ? "" : nb::cast<std::string>(dim));
  }
  return value;
}

static nb::object shapeOf(const Value &value) {
  if (!value.hasRank)
    return nb::none();
  nb::list dims;
  for (size_t d = 0; d < value.shape.size(); ++d) {
    if (value.shape[d] >= 0)
      dims.append(value.shape[d]);
    else if (value.symbols[d].empty())
      dims.append(nb::none());
    else
      dims.append(value.symbols[d]);
  }
  return nb::tuple(dims);
}

void bindValue(nb::module_ &module) {
  nb::class_<Value>(module, "Value",
                    "An input or output of a model: name, element type, shape, device.")
      .def(
          "__init__",
          [](Value *self, std::string name, std::string dtype, std::optional<nb::sequence> shape,
             std::string device) {
            new (self) Value(makeValue(std::move(name), std::move(dtype), shape, device));
          },
          nb::arg("name"), nb::arg("dtype"), nb::arg("shape").none(), nb::arg("device"))
      .def_ro("name", &Value::name)
      .def_ro("dtype", &Value::typeName,
              "Name of the element type in dlc: f32, bf16, i64, bool, ..")
      .def_prop_ro("shape", shapeOf,
                   "A tuple, in which a dynamic dimension is its name or None; None if the rank is "
                   "open.")
      .def_ro("device", &Value::device, "Device of the value: cpu, cuda:0, ..")
      .def_ro("layout", &Value::layout,
              "Memory layout of the value as an oneDNN format tag; '': row-major.")
      .def("__repr__", [](const Value &value) { return value.name + ": " + value.text(); });
}

} // namespace dlc::python
