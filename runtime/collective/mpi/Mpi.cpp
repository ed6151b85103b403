//===- Mpi.cpp - libdlc_mpi, the engine for mpirun and srun ------------------===//
#include "runtime/collective/mpi/Collectives.h"

#include "dlc/Export.h"

#include <chrono>
#include <cstdio>
#include <cstring>
#include <deque>
#include <dlfcn.h>
#include <thread>
#include <unistd.h>

namespace dlc::mpi {
namespace {

/// Maximum time in seconds until abort terminates the process, even if MPI hangs.
constexpr unsigned kAbortSeconds = 5;

struct World {
  MPI_Comm all = MPI_COMM_NULL;      ///< communicator for collectives
  MPI_Comm messages = MPI_COMM_NULL; ///< communicator for messages between two ranks
  bool mine = false; ///< whether MPI was initialized here and must be finalized here
  int rank = 0, size = 1;
  struct PeerMessage {
    MPI_Request request = MPI_REQUEST_NULL;
    char text[DLC_ENGINE_MESSAGE];
  };
  std::deque<PeerMessage> sent; ///< messages whose sends may be pending
};

/// Calls `body` and converts its exception to the engine's error convention (a message and a
/// nonzero result).
template <typename Body> int catchExceptions(char *error, size_t size, Body body) {
  try {
    body();
    return 0;
  } catch (const std::exception &failure) {
    std::snprintf(error, size, "%s", failure.what());
    return 1;
  }
}

/// Makes the symbols of the MPI library global: Open MPI loads its components with dlopen, and they
/// look up MPI's symbols in the global scope.
void exportMpiSymbols() {
  Dl_info info;
  if (dladdr(reinterpret_cast<const void *>(&MPI_Init_thread), &info) && info.dli_fname)
    dlopen(info.dli_fname, RTLD_NOW | RTLD_GLOBAL | RTLD_NOLOAD);
}

void initializeMpi(World &world) {
  exportMpiSymbols();
  int initialised = 0, level = 0;
  check(MPI_Initialized(&initialised), "MPI_Initialized");
  world.mine = !initialised;
  if (world.mine)
    // MPI_THREAD_FUNNELED suffices, because all calls are made by one thread, which is MPI's main
    // thread.
    check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &level), "MPI_Init_thread");
  else
    check(MPI_Query_thread(&level), "MPI_Query_thread");
  if (!world.mine && level != MPI_THREAD_MULTIPLE)
    throw MpiError("MPI was initialized outside dlc with a lower thread level than dlc requires; "
                   "initialize it with MPI_THREAD_MULTIPLE, or after dlc's world");
  for (MPI_Comm *own : {&world.all, &world.messages}) {
    check(MPI_Comm_dup(MPI_COMM_WORLD, own), "MPI_Comm_dup");
    check(MPI_Comm_set_errhandler(*own, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  }
}

int openWorld(const void *, dlc_engine_combine combine, void **opened, dlc_engine_place *place,
              char *error, size_t size) {
  auto *world = new World;
  int result = catchExceptions(error, size, [&] {
    initializeMpi(*world);
    setCombine(combine);
    check(MPI_Comm_rank(world->all, &world->rank), "MPI_Comm_rank");
    check(MPI_Comm_size(world->all, &world->size), "MPI_Comm_size");
    MPI_Comm machine = MPI_COMM_NULL;
    check(
        MPI_Comm_split_type(world->all, MPI_COMM_TYPE_SHARED, world->rank, MPI_INFO_NULL, &machine),
        "MPI_Comm_split_type");
    *place = {world->rank, world->size, 0, 1};
    check(MPI_Comm_rank(machine, &place->local_rank), "MPI_Comm_rank");
    check(MPI_Comm_size(machine, &place->local_size), "MPI_Comm_size");
    check(MPI_Comm_free(&machine), "MPI_Comm_free");
  });
  if (result != 0)
    delete world;
  else
    *opened = world;
  return result;
}

void freeCompletedSends(World &world) {
  for (int done = 1; done && !world.sent.empty();) {
    check(MPI_Test(&world.sent.front().request, &done, MPI_STATUS_IGNORE), "MPI_Test");
    if (done)
      world.sent.pop_front();
  }
}

int receiveMessage(void *opened, int *from, void *data, uint32_t *bytes, char *error, size_t size) {
  auto &world = *static_cast<World *>(opened);
  return catchExceptions(error, size, [&] {
    *from = -1;
    freeCompletedSends(world);
    int there = 0, count = 0;
    MPI_Status status;
    check(MPI_Iprobe(MPI_ANY_SOURCE, 0, world.messages, &there, &status), "MPI_Iprobe");
    if (!there)
      return;
    check(
        MPI_Recv(data, DLC_ENGINE_MESSAGE, MPI_BYTE, status.MPI_SOURCE, 0, world.messages, &status),
        "MPI_Recv");
    check(MPI_Get_count(&status, MPI_BYTE, &count), "MPI_Get_count");
    *from = status.MPI_SOURCE;
    *bytes = static_cast<uint32_t>(count);
  });
}

int sendMessage(void *opened, int to, const void *data, uint32_t bytes, char *error, size_t size) {
  auto &world = *static_cast<World *>(opened);
  return catchExceptions(error, size, [&] {
    freeCompletedSends(world);
    World::PeerMessage &message = world.sent.emplace_back();
    std::memcpy(message.text, data, bytes);
    check(MPI_Isend(message.text, static_cast<int>(bytes), MPI_BYTE, to, 0, world.messages,
                    &message.request),
          "MPI_Isend");
  });
}

/// Closes the world: waits for the other ranks and receives their last messages, because
/// MPI_Finalize would busy-wait for the last rank.
void closeWorld(void *opened) {
  auto *world = static_cast<World *>(opened);
  char error[256], text[DLC_ENGINE_MESSAGE];
  catchExceptions(error, sizeof error, [&] {
    MPI_Request barrier = MPI_REQUEST_NULL;
    check(MPI_Ibarrier(world->all, &barrier), "MPI_Ibarrier");
    for (int done = 0; !done;) {
      uint32_t bytes = 0;
      for (int from = 0; from >= 0;)
        if (receiveMessage(opened, &from, text, &bytes, error, sizeof error) != 0)
          throw MpiError(error);
      check(MPI_Test(&barrier, &done, MPI_STATUS_IGNORE), "MPI_Test");
      if (!done)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    check(MPI_Comm_free(&world->messages), "MPI_Comm_free");
    check(MPI_Comm_free(&world->all), "MPI_Comm_free");
    if (world->mine)
      check(MPI_Finalize(), "MPI_Finalize");
  });
  delete world;
}

int startCall(void *opened, const dlc_engine_call *call, void **request, char *error, size_t size) {
  auto &world = *static_cast<World *>(opened);
  return catchExceptions(error, size, [&] {
    *request =
        new std::vector<MPI_Request>(startCollective(world.all, world.rank, world.size, *call));
  });
}

int testCall(void *, void *request, int *done, char *error, size_t size) {
  auto *going = static_cast<std::vector<MPI_Request> *>(request);
  *done = 0;
  int result = catchExceptions(error, size, [&] {
    check(MPI_Testall(static_cast<int>(going->size()), going->data(), done, MPI_STATUSES_IGNORE),
          "MPI_Testall");
  });
  if (*done || result != 0)
    delete going;
  return result;
}

void abortAll(void *, const char *message) {
  std::fprintf(stderr, "dlc: error: %s\n", message);
  std::fflush(nullptr);
  // Set an alarm, because MPI_Abort hangs if the launcher has terminated.
  alarm(kAbortSeconds);
  MPI_Abort(MPI_COMM_WORLD, 1);
  _exit(1);
}

constexpr dlc_engine_table kTable = {
    DLC_ENGINE_TABLE_VERSION, "mpi",   openWorld, closeWorld, startCall, testCall, sendMessage,
    receiveMessage,           abortAll};

} // namespace
} // namespace dlc::mpi

extern "C" DLC_EXPORT const dlc_engine_table *dlc_mpi_engine_table(char *, size_t) {
  return &dlc::mpi::kTable;
}
