//===- Streams.cpp - streams and events ---------------------------------------===//
#include "runtime/device/cuda/Device.h"

namespace dlc::cuda {

namespace {

Stream streamOf(void *stream) { return static_cast<Stream>(stream); }
Event eventOf(void *event) { return static_cast<Event>(event); }

int streamCreate(void *handle, void **to, char *error, size_t size) {
  Device &device = deviceOf(handle);
  CurrentContext current(device);
  Stream stream = nullptr;
  // Create a non-blocking stream. A blocking one would synchronize with the default stream, which
  // other libraries in the process use.
  Result result = driver().streamCreate(&stream, StreamNonBlocking);
  *to = stream;
  return ErrorBuffer{error, size}.check(result, device, "create a stream");
}

void streamDestroy(void *handle, void *stream) {
  if (!stream)
    return;
  CurrentContext current(deviceOf(handle));
  driver().streamSynchronize(streamOf(stream));
  driver().streamDestroy(streamOf(stream));
}

int streamSynchronize(void *handle, void *stream, char *error, size_t size) {
  Device &device = deviceOf(handle);
  CurrentContext current(device);
  return ErrorBuffer{error, size}.check(driver().streamSynchronize(streamOf(stream)), device,
                                        "synchronize a stream");
}

int eventCreate(void *handle, void **to, char *error, size_t size) {
  Device &device = deviceOf(handle);
  CurrentContext current(device);
  Event event = nullptr;
  Result result = driver().eventCreate(&event, EventDefault);
  *to = event;
  return ErrorBuffer{error, size}.check(result, device, "create an event");
}

void eventDestroy(void *handle, void *event) {
  if (!event)
    return;
  CurrentContext current(deviceOf(handle));
  driver().eventDestroy(eventOf(event));
}

int eventRecord(void *handle, void *event, void *stream, char *error, size_t size) {
  Device &device = deviceOf(handle);
  CurrentContext current(device);
  return ErrorBuffer{error, size}.check(driver().eventRecord(eventOf(event), streamOf(stream)),
                                        device, "record an event");
}

int eventWait(void *handle, void *stream, void *event, char *error, size_t size) {
  Device &device = deviceOf(handle);
  CurrentContext current(device);
  return ErrorBuffer{error, size}.check(driver().streamWait(streamOf(stream), eventOf(event), 0),
                                        device, "make a stream wait for an event");
}

int eventSynchronize(void *handle, void *event, char *error, size_t size) {
  Device &device = deviceOf(handle);
  CurrentContext current(device);
  return ErrorBuffer{error, size}.check(driver().eventSynchronize(eventOf(event)), device,
                                        "synchronize an event");
}

int eventElapsed(void *handle, void *from, void *to, float *milliseconds, char *error,
                 size_t size) {
  Device &device = deviceOf(handle);
  CurrentContext current(device);
  return ErrorBuffer{error, size}.check(
      driver().eventElapsed(milliseconds, eventOf(from), eventOf(to)), device,
      "measure the time between two events");
}

} // namespace

void setStreamFunctions(dlc_device_table &table) {
  table.stream_create = streamCreate;
  table.stream_destroy = streamDestroy;
  table.stream_synchronize = streamSynchronize;
  table.event_create = eventCreate;
  table.event_destroy = eventDestroy;
  table.event_record = eventRecord;
  table.event_wait = eventWait;
  table.event_synchronize = eventSynchronize;
  table.event_elapsed = eventElapsed;
}

} // namespace dlc::cuda
