//===- Engine.cpp - the launcher that started this process, and its engine ---===//
#include "runtime/collective/Engine.h"

#include "runtime/kind/Plugin.h"
#include "runtime/program/Message.h"

#include <cstdlib>

namespace dlc::runtime {

namespace {

/// A launcher of ranks: the environment variable with its number of ranks, and the name of its
/// engine.
struct LauncherVariables {
  const char *size;
  const char *engine;
};

constexpr LauncherVariables kLaunchers[] = {
    {"OMPI_COMM_WORLD_SIZE", "mpi"}, {"PMI_SIZE", "mpi"}, {"SLURM_STEP_NUM_TASKS", "mpi"}};

const dlc_engine_table *loadEngine(const std::string &name, const LauncherVariables &launcher) {
  Plugin plugin = openPlugin(name, "dlc_" + name + "_engine_table");
  std::string started = message("this process was started as one of several ($", launcher.size,
                                " is ", std::getenv(launcher.size), "), but ");
  if (!plugin.function)
    fail(started, plugin.why,
         "; tools/build in a clone of dlc makes it in build/lib, for the MPI "
         "of this machine (in Python, torchrun needs no plugin)");
  char error[1024] = "";
  const dlc_engine_table *table =
      reinterpret_cast<dlc_engine_table_function>(plugin.function)(error, sizeof error);
  if (!table)
    fail(started, "the plugin ", plugin.path, " cannot be used: ", error);
  requireVersion(*table, started + "the plugin " + plugin.path);
  return table;
}

} // namespace

void requireVersion(const dlc_engine_table &table, const std::string &whose) {
  if (table.version != DLC_ENGINE_TABLE_VERSION)
    fail(whose, " has version ", table.version, "; this runtime requires version ",
         DLC_ENGINE_TABLE_VERSION, "; build it with the headers of this dlc");
}

LaunchedEngine findLaunchedEngine() {
  for (const LauncherVariables &launcher : kLaunchers)
    if (const char *size = std::getenv(launcher.size); size && std::atoi(size) > 1)
      return {loadEngine(launcher.engine, launcher), launcher.size, std::atoi(size)};
  return {};
}

} // namespace dlc::runtime
