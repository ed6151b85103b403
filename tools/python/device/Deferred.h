//===- Deferred.h - releases arrays after the runs that read them ------------===//
#ifndef DLC_TOOLS_PYTHON_DEVICE_DEFERRED_H
#define DLC_TOOLS_PYTHON_DEVICE_DEFERRED_H

#include "runtime/device/Event.h"

#include <nanobind/nanobind.h>

#include <memory>

namespace dlc::python {

/// Releases the exported tensor of another library after the run that reads the tensor: the library
/// may reuse the memory as soon as the tensor is released, in a stream that dlc does not know.
/// Requires the GIL.
void releaseAfter(nanobind::object tensor, std::shared_ptr<runtime::DeviceEvent> end);

/// Releases the tensors whose runs are complete. If more than 256 tensors remain, waits for the
/// oldest runs. Requires the GIL.
void releaseFinished();

} // namespace dlc::python

#endif // DLC_TOOLS_PYTHON_DEVICE_DEFERRED_H
