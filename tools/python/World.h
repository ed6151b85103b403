//===- World.h - the processes that run one program, and who carries their collectives -===//
#ifndef DLC_TOOLS_PYTHON_WORLD_H
#define DLC_TOOLS_PYTHON_WORLD_H

#include <nanobind/nanobind.h>

namespace dlc::python {

void bindWorld(nanobind::module_ &module);

} // namespace dlc::python

#endif // DLC_TOOLS_PYTHON_WORLD_H
