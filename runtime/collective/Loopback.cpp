//===- Loopback.cpp - engine for ranks that are threads of one process -------===//
#include "runtime/collective/World.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <deque>
#include <mutex>

namespace dlc::runtime {

namespace {

/// State that all ranks of a loopback world share.
struct Hub {
  explicit Hub(int count) : size(count), next(count, 0), messages(count) {}

  struct Round {
    std::vector<dlc_engine_call> calls;
    int arrived = 0;
    bool carriedOut = false;
  };
  struct PeerMessage {
    int from;
    std::vector<char> bytes;
  };

  const int size;
  std::mutex mutex;
  /// Pending collectives, which not all ranks have started. The first one has number `base`.
  std::deque<std::shared_ptr<Round>> rounds;
  uint64_t base = 0;
  std::vector<uint64_t> next; ///< number of each rank's next collective
  std::vector<std::deque<PeerMessage>> messages;
  std::string broken;
};

struct LoopbackRank {
  std::shared_ptr<Hub> hub;
  dlc_engine_combine combine;
  int rank;
};

struct OpenArguments {
  std::shared_ptr<Hub> hub;
  int rank;
};

int setError(char *error, size_t size, const std::string &text) {
  std::snprintf(error, size, "%s", text.c_str());
  return 1;
}

uint64_t getShareBytes(const dlc_engine_call &call) {
  return call.share * dtypeBytes(static_cast<DType>(call.type));
}

const char *from(const dlc_engine_call &call) { return static_cast<const char *>(call.from); }
char *to(const dlc_engine_call &call) { return static_cast<char *>(call.to); }

/// Executes a collective after all ranks have started it. Reads all operands before it writes
/// results, because source and destination may be the same memory. Sums are added in rank order.
void executeCollective(const std::vector<dlc_engine_call> &calls, dlc_engine_combine combine) {
  const dlc_engine_call &first = calls.front();
  uint64_t share = getShareBytes(first);
  size_t count = calls.size();
  std::vector<char> whole;
  auto reduce = [&](uint64_t elements) {
    uint64_t bytes = elements * dtypeBytes(static_cast<DType>(first.type));
    whole.assign(from(first), from(first) + bytes);
    for (size_t rank = 1; rank < count; ++rank)
      combine(first.reduction, first.type, whole.data(), from(calls[rank]), elements);
  };
  switch (first.collective) {
  case DLC_COLLECTIVE_ALL_REDUCE:
    reduce(first.share);
    for (const dlc_engine_call &call : calls)
      std::copy(whole.begin(), whole.end(), to(call));
    break;
  case DLC_COLLECTIVE_REDUCE_SCATTER:
    reduce(first.share * count);
    for (size_t rank = 0; rank < count; ++rank)
      std::copy_n(whole.data() + rank * share, share, to(calls[rank]));
    break;
  case DLC_COLLECTIVE_ALL_GATHER:
    for (const dlc_engine_call &call : calls)
      whole.insert(whole.end(), from(call), from(call) + share);
    for (const dlc_engine_call &call : calls)
      std::copy(whole.begin(), whole.end(), to(call));
    break;
  default:
    whole.assign(from(calls[first.root]), from(calls[first.root]) + share);
    for (const dlc_engine_call &call : calls)
      std::copy(whole.begin(), whole.end(), to(call));
  }
}

int openMember(const void *argument, dlc_engine_combine combine, void **world,
               dlc_engine_place *place, char *, size_t) {
  const auto &opened = *static_cast<const OpenArguments *>(argument);
  *world = new LoopbackRank{opened.hub, combine, opened.rank};
  *place = {opened.rank, opened.hub->size, opened.rank, opened.hub->size};
  return 0;
}

void closeMember(void *world) { delete static_cast<LoopbackRank *>(world); }

int startCall(void *world, const dlc_engine_call *call, void **request, char *error, size_t size) {
  auto &member = *static_cast<LoopbackRank *>(world);
  Hub &hub = *member.hub;
  std::lock_guard lock(hub.mutex);
  if (!hub.broken.empty())
    return setError(error, size, hub.broken);
  uint64_t number = hub.next[member.rank]++;
  while (number >= hub.base + hub.rounds.size())
    hub.rounds.push_back(std::make_shared<Hub::Round>());
  std::shared_ptr<Hub::Round> round = hub.rounds[number - hub.base];
  round->calls.resize(hub.size);
  round->calls[member.rank] = *call;
  if (++round->arrived == hub.size) {
    for (int rank = 0; rank < hub.size; ++rank) {
      const dlc_engine_call &other = round->calls[rank];
      if (other.collective == call->collective && other.type == call->type &&
          other.share == call->share && other.root == call->root &&
          other.reduction == call->reduction)
        continue;
      hub.broken = "ranks " + std::to_string(member.rank) + " and " + std::to_string(rank) +
                   " started different collectives at position " + std::to_string(number + 1);
      return setError(error, size, hub.broken);
    }
    executeCollective(round->calls, member.combine);
    round->carriedOut = true;
  }
  while (!hub.rounds.empty() && hub.rounds.front()->carriedOut) {
    hub.rounds.pop_front();
    ++hub.base;
  }
  *request = new std::shared_ptr(round);
  return 0;
}

int testCall(void *world, void *request, int *done, char *error, size_t size) {
  Hub &hub = *static_cast<LoopbackRank *>(world)->hub;
  auto *round = static_cast<std::shared_ptr<Hub::Round> *>(request);
  std::lock_guard lock(hub.mutex);
  *done = (*round)->carriedOut;
  bool failed = !*done && !hub.broken.empty();
  if (*done || failed)
    delete round;
  return failed ? setError(error, size, hub.broken) : 0;
}

int sendMessage(void *world, int to, const void *data, uint32_t bytes, char *, size_t) {
  auto &member = *static_cast<LoopbackRank *>(world);
  const char *text = static_cast<const char *>(data);
  std::lock_guard lock(member.hub->mutex);
  member.hub->messages[to].push_back({member.rank, {text, text + bytes}});
  return 0;
}

int receiveMessage(void *world, int *from, void *data, uint32_t *bytes, char *error, size_t size) {
  auto &member = *static_cast<LoopbackRank *>(world);
  std::lock_guard lock(member.hub->mutex);
  // Report a failure of the world also to ranks that have no pending collective.
  if (!member.hub->broken.empty())
    return setError(error, size, member.hub->broken);
  std::deque<Hub::PeerMessage> &mine = member.hub->messages[member.rank];
  *from = -1;
  if (mine.empty())
    return 0;
  *from = mine.front().from;
  *bytes = static_cast<uint32_t>(mine.front().bytes.size());
  std::memcpy(data, mine.front().bytes.data(), *bytes);
  mine.pop_front();
  return 0;
}

void abortAll(void *world, const char *message) {
  Hub &hub = *static_cast<LoopbackRank *>(world)->hub;
  std::lock_guard lock(hub.mutex);
  if (hub.broken.empty())
    hub.broken = message;
}

constexpr dlc_engine_table kLoopback = {
    DLC_ENGINE_TABLE_VERSION, "loopback", openMember, closeMember, startCall, testCall, sendMessage,
    receiveMessage,           abortAll};

} // namespace

std::vector<std::unique_ptr<World>> createLoopbackWorlds(int size) {
  auto hub = std::make_shared<Hub>(size);
  std::vector<std::unique_ptr<World>> worlds;
  for (int rank = 0; rank < size; ++rank) {
    OpenArguments invitation{hub, rank};
    worlds.push_back(std::make_unique<World>(kLoopback, &invitation));
  }
  return worlds;
}

} // namespace dlc::runtime
