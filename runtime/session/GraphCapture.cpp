//===- GraphCapture.cpp - capture of device commands into graphs -------------===//
#include "runtime/session/GraphCapture.h"

#include <algorithm>
#include <exception>

namespace dlc::runtime {

namespace {

constexpr size_t kMaxGraphs = 8;

} // namespace

GraphCapture::~GraphCapture() {
  for (const Graph &graph : graphs)
    if (graph.handle)
      device.table.graph_destroy(device.handle, graph.handle);
}

void *GraphCapture::capture(void *stream, const Submit &plain) {
  void *graph = nullptr;
  char error[1024] = "";
  if (device.table.capture_begin(device.handle, stream, error, sizeof error) != 0)
    return nullptr;
  bool whole = true;
  std::exception_ptr exception;
  try {
    plain(stream);
  } catch (const Error &) {
    whole = false; // the error is reported when the commands are submitted one by one
  } catch (...) {
    // End the capture first, because a stream in capture executes nothing.
    whole = false;
    exception = std::current_exception();
  }
  const bool hasEnded =
      device.table.capture_end(device.handle, stream, &graph, error, sizeof error) == 0;
  if (whole)
    return graph;
  if (hasEnded && graph)
    device.table.graph_destroy(device.handle, graph);
  if (exception)
    std::rethrow_exception(exception);
  return nullptr;
}

void GraphCapture::run(void *stream, void *captureStream, const std::vector<void *> &addresses,
                       const Submit &plain) {
  if (refused)
    return plain(stream);
  auto found = std::find_if(graphs.begin(), graphs.end(),
                            [&](const Graph &graph) { return graph.addresses == addresses; });
  if (found == graphs.end()) {
    if (graphs.size() == kMaxGraphs) {
      if (graphs.back().handle)
        device.table.graph_destroy(device.handle, graphs.back().handle);
      graphs.pop_back();
    }
    graphs.insert(graphs.begin(), {addresses, nullptr});
    return plain(stream);
  }
  std::rotate(graphs.begin(), found, found + 1);
  Graph &graph = graphs.front();
  if (!graph.handle)
    graph.handle = capture(captureStream, plain);
  if (!graph.handle) {
    refused = true;
    return plain(stream);
  }
  device.call(device.table.graph_launch, graph.handle, stream);
  ++launched;
}

} // namespace dlc::runtime
