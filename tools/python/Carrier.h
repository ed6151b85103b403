//===- Carrier.h - collective engine implemented by a Python object -------===//
#ifndef DLC_TOOLS_PYTHON_CARRIER_H
#define DLC_TOOLS_PYTHON_CARRIER_H

#include "dlc/engine.h"

#include <nanobind/nanobind.h>

namespace dlc::python {

/// Context of the collective engine: the Python object that implements the collectives, and the
/// rank of this process. Never destroyed, because the world calls it until the world is closed.
struct PythonCollectives {
  /// Object that implements the collectives; dlc/_torch/collectives.py documents its methods.
  nanobind::object object;
  dlc_engine_place place{};
  dlc_engine_combine combine = nullptr;
};

/// Collective engine that calls Python. The world's thread holds the GIL during each call, so a
/// thread that waits for the world must release the GIL.
extern const dlc_engine_table carrierEngine;

} // namespace dlc::python

#endif // DLC_TOOLS_PYTHON_CARRIER_H
