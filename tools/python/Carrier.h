//===- Carrier.h - collective engine implemented by a Python object -------===//
#ifndef DLC_TOOLS_PYTHON_CARRIER_H
#define DLC_TOOLS_PYTHON_CARRIER_H

#include "dlc/engine.h"

#include <nanobind/nanobind.h>

namespace dlc::python {

/// Argument with which the engine's world is opened. Never destroyed, because the world may call it
/// until it is left.
struct Carrier {
  /// dlc/_torch_world.py documents the methods of this object.
  nanobind::object object;
  dlc_engine_place place{};
  dlc_engine_combine combine = nullptr;
};

/// The world's thread calls Python and holds the GIL during each call. A caller that waits for the
/// world must therefore release the GIL.
extern const dlc_engine_table carrierEngine;

} // namespace dlc::python

#endif // DLC_TOOLS_PYTHON_CARRIER_H
