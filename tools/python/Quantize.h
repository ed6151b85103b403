//===- Quantize.h - Python bindings of quantization -----------------------===//
#ifndef DLC_TOOLS_PYTHON_QUANTIZE_H
#define DLC_TOOLS_PYTHON_QUANTIZE_H

#include <nanobind/nanobind.h>

namespace dlc::python {

void bindQuantize(nanobind::module_ &module);

} // namespace dlc::python

#endif // DLC_TOOLS_PYTHON_QUANTIZE_H
