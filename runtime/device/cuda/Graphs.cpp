//===- Graphs.cpp - capture and replay of CUDA graphs ------------------------===//
#include "runtime/device/cuda/Device.h"

namespace dlc::cuda {

namespace {

Stream streamOf(void *stream) { return static_cast<Stream>(stream); }
GraphExec buildGraph(void *graph) { return static_cast<GraphExec>(graph); }

int captureBegin(void *handle, void *stream, char *error, size_t size) {
  Device &device = deviceOf(handle);
  CurrentContext current(device);
  // Use thread-local mode, which lets other threads allocate memory and load modules during the
  // capture.
  return ErrorBuffer{error, size}.check(driver().captureBegin(streamOf(stream), CaptureThreadLocal),
                                        device, "begin stream capture");
}

int captureEnd(void *handle, void *stream, void **to, char *error, size_t size) {
  ErrorBuffer report{error, size};
  Device &device = deviceOf(handle);
  CurrentContext current(device);
  *to = nullptr;
  Graph graph = nullptr;
  if (int failed =
          report.check(driver().captureEnd(streamOf(stream), &graph), device, "end stream capture"))
    return failed;
  GraphExec made = nullptr;
  Result result = driver().graphInstantiate(&made, graph, 0);
  driver().graphDestroy(graph);
  *to = made;
  return report.check(result, device, "instantiate a graph");
}

int graphLaunch(void *handle, void *graph, void *stream, char *error, size_t size) {
  Device &device = deviceOf(handle);
  CurrentContext current(device);
  return ErrorBuffer{error, size}.check(driver().graphLaunch(buildGraph(graph), streamOf(stream)),
                                        device, "launch a graph");
}

void graphDestroy(void *handle, void *graph) {
  if (!graph)
    return;
  CurrentContext current(deviceOf(handle));
  driver().graphExecDestroy(buildGraph(graph));
}

} // namespace

void setGraphFunctions(dlc_device_table &table) {
  table.capture_begin = captureBegin;
  table.capture_end = captureEnd;
  table.graph_launch = graphLaunch;
  table.graph_destroy = graphDestroy;
}

} // namespace dlc::cuda
