//===- Carrier.h - an engine whose collectives a Python object carries ----------===//
#ifndef DLC_TOOLS_PYTHON_CARRIER_H
#define DLC_TOOLS_PYTHON_CARRIER_H

#include "dlc/engine.h"

#include <nanobind/nanobind.h>

namespace dlc::python {

/// What the engine's world is opened with. Never destroyed: the world may call it until it is left.
struct Carrier {
  /// dlc/_torch_world.py says what it does.
  nanobind::object object;
  dlc_engine_place place{};
  dlc_engine_combine combine = nullptr;
};

/// Python is called by the world's thread, which holds the interpreter's lock for as long as that
/// takes: whoever waits for the world must not.
extern const dlc_engine_table carrierEngine;

} // namespace dlc::python

#endif // DLC_TOOLS_PYTHON_CARRIER_H
