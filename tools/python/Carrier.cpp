//===- Carrier.cpp - collective engine implemented by a Python object -----===//
#include "tools/python/Carrier.h"

#include "dlc/DType.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <unistd.h>
#include <vector>

namespace nb = nanobind;

namespace dlc::python {

namespace {

using Clock = std::chrono::steady_clock;

/// Delay before a failed collective is reported. If a rank dies, its connections break first;
/// during the delay, the world's watchdog can identify the dead rank.
constexpr std::chrono::seconds kPatience(1);

/// A collective operation in progress.
struct CollectiveRequest {
  dlc_engine_call call;
  nb::object work = {};
  /// For a reduce-scatter: copy of the elements of all shares, which is reduced in place.
  std::vector<char> whole = {};
  /// For a reduction that PyTorch does not support: gathered elements of all ranks, which
  /// finishCollective() combines.
  std::vector<char> parts = {};
  std::string error = {};
  Clock::time_point failed = {};
};

/// Runs `body` with the GIL held. Returns 0, or returns 1 and writes the message of the exception
/// to `error`, as the engine interface requires.
template <typename Body> int runWithGil(char *error, size_t size, Body body) {
  nb::gil_scoped_acquire held;
  std::string text;
  try {
    body();
    return 0;
  } catch (const nb::python_error &failure) {
    text = std::string(nb::str(failure.type().attr("__name__")).c_str()) + ": " +
           nb::str(failure.value()).c_str();
  } catch (const std::exception &failure) {
    text = failure.what();
  }
  std::snprintf(error, size, "%s", text.c_str());
  return 1;
}

DType typeOf(const dlc_engine_call &call) { return static_cast<DType>(call.type); }
uint64_t bytesOf(const dlc_engine_call &call) { return call.share * dtypeBytes(typeOf(call)); }
uintptr_t addressOf(const void *memory) { return reinterpret_cast<uintptr_t>(memory); }

/// Returns true if PyTorch's collectives support this reduction of this element type with the
/// required semantics.
bool isSupportedReduction(const dlc_engine_call &call) {
  switch (typeOf(call)) {
  case DType::I32:
  case DType::I64:
    return true;
  case DType::F32:
  case DType::F64:
  case DType::BF16:
    return call.reduction == DLC_REDUCE_SUM;
  default:
    return false;
  }
}

/// Returns the buffer in which the elements of a reduction are reduced over all ranks.
/// countReducedElements() returns the number of these elements.
char *reductionBuffer(CollectiveRequest &request) {
  return request.whole.empty() ? static_cast<char *>(request.call.to) : request.whole.data();
}

uint64_t countReducedElements(const PythonCollectives &carrier, const dlc_engine_call &call) {
  return call.collective == DLC_COLLECTIVE_REDUCE_SCATTER
             ? call.share * static_cast<uint64_t>(carrier.place.size)
             : call.share;
}

void startReduction(PythonCollectives &carrier, CollectiveRequest &request) {
  const dlc_engine_call &call = request.call;
  const uint64_t count = countReducedElements(carrier, call),
                 bytes = count * dtypeBytes(typeOf(call));
  const char *from = static_cast<const char *>(call.from);
  if (call.collective == DLC_COLLECTIVE_REDUCE_SCATTER)
    request.whole.assign(from, from + bytes);
  else if (call.from != call.to)
    std::memmove(call.to, call.from, bytes);
  char *place = reductionBuffer(request);
  if (isSupportedReduction(call)) {
    request.work = carrier.object.attr("all_reduce")(addressOf(place), count,
                                                     std::string(dtypeName(typeOf(call))),
                                                     call.reduction == DLC_REDUCE_MAX);
    return;
  }
  request.parts.resize(bytes * static_cast<uint64_t>(carrier.place.size));
  request.work =
      carrier.object.attr("all_gather")(addressOf(place), addressOf(request.parts.data()), bytes);
}

void startCollective(PythonCollectives &carrier, CollectiveRequest &request) {
  const dlc_engine_call &call = request.call;
  switch (call.collective) {
  case DLC_COLLECTIVE_ALL_GATHER:
    request.work =
        carrier.object.attr("all_gather")(addressOf(call.from), addressOf(call.to), bytesOf(call));
    return;
  case DLC_COLLECTIVE_BROADCAST:
    if (carrier.place.rank == call.root && call.from != call.to)
      std::memmove(call.to, call.from, bytesOf(call));
    request.work = carrier.object.attr("broadcast")(addressOf(call.to), bytesOf(call), call.root);
    return;
  default:
    startReduction(carrier, request);
  }
}

/// Completes a collective after the Python part has finished: combines gathered elements, and
/// copies this rank's share of a reduce-scatter.
void finishCollective(const PythonCollectives &carrier, CollectiveRequest &request) {
  const dlc_engine_call &call = request.call;
  if (!request.parts.empty()) {
    const uint64_t count = countReducedElements(carrier, call),
                   bytes = count * dtypeBytes(typeOf(call));
    char *place = reductionBuffer(request);
    std::memcpy(place, request.parts.data(), bytes);
    for (int rank = 1; rank < carrier.place.size; ++rank)
      carrier.combine(call.reduction, call.type, place,
                      request.parts.data() + static_cast<uint64_t>(rank) * bytes, count);
  }
  if (!request.whole.empty())
    std::memcpy(call.to,
                request.whole.data() + static_cast<uint64_t>(carrier.place.rank) * bytesOf(call),
                bytesOf(call));
}

int openWorld(const void *argument, dlc_engine_combine combine, void **world,
              dlc_engine_place *place, char *, size_t) {
  auto *carrier = static_cast<PythonCollectives *>(const_cast<void *>(argument));
  carrier->combine = combine;
  *world = carrier;
  *place = carrier->place;
  return 0;
}

void closeWorld(void *world) {
  char error[256];
  runWithGil(error, sizeof error,
             [&] { static_cast<PythonCollectives *>(world)->object.attr("close")(); });
}

int startCall(void *world, const dlc_engine_call *call, void **request, char *error, size_t size) {
  auto made = std::make_unique<CollectiveRequest>(CollectiveRequest{*call});
  int result = runWithGil(
      error, size, [&] { startCollective(*static_cast<PythonCollectives *>(world), *made); });
  if (result == 0)
    *request = made.release();
  return result;
}

int testCall(void *world, void *given, int *done, char *error, size_t size) {
  auto &carrier = *static_cast<PythonCollectives *>(world);
  auto *request = static_cast<CollectiveRequest *>(given);
  *done = 0;
  if (request->error.empty()) {
    char text[1024] = "";
    int result = runWithGil(text, sizeof text, [&] {
      *done = nb::cast<bool>(carrier.object.attr("is_done")(request->work));
      if (*done)
        request->work.reset();
    });
    if (result != 0) {
      request->error = *text ? text : "failed";
      request->failed = Clock::now();
    }
  }
  const bool isLost = !request->error.empty() && Clock::now() > request->failed + kPatience;
  if (*done)
    finishCollective(carrier, *request);
  if (isLost)
    std::snprintf(error, size, "%s", request->error.c_str());
  if (*done || isLost) {
    nb::gil_scoped_acquire held;
    delete request;
  }
  return isLost;
}

int sendMessage(void *world, int to, const void *data, uint32_t bytes, char *error, size_t size) {
  return runWithGil(error, size, [&] {
    static_cast<PythonCollectives *>(world)->object.attr("send")(to, nb::bytes(data, bytes));
  });
}

int receiveMessage(void *world, int *from, void *data, uint32_t *bytes, char *error, size_t size) {
  return runWithGil(error, size, [&] {
    *from = -1;
    nb::object message = static_cast<PythonCollectives *>(world)->object.attr("receive")();
    if (message.is_none())
      return;
    nb::bytes text = nb::cast<nb::bytes>(message[1]);
    *bytes = static_cast<uint32_t>(std::min<size_t>(text.size(), DLC_ENGINE_MESSAGE));
    std::memcpy(data, text.data(), *bytes);
    *from = nb::cast<int>(message[0]);
  });
}

/// Terminates this process; the launcher then terminates the processes of the other ranks.
void abortProcess(void *, const char *message) {
  std::fprintf(stderr, "dlc: error: %s\n", message);
  std::fflush(nullptr);
  _exit(1);
}

} // namespace

const dlc_engine_table carrierEngine = {
    DLC_ENGINE_TABLE_VERSION, "torch",     openWorld, closeWorld, startCall, testCall, sendMessage,
    receiveMessage,           abortProcess};

} // namespace dlc::python
