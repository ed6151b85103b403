//===- World.h - processes that run one program, and their collective engine ------------------===//
#ifndef DLC_TOOLS_PYTHON_WORLD_H
#define DLC_TOOLS_PYTHON_WORLD_H

#include <nanobind/nanobind.h>

namespace dlc::python {

void bindWorld(nanobind::module_ &module);

} // namespace dlc::python

#endif // DLC_TOOLS_PYTHON_WORLD_H
