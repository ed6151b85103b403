//===- World.cpp - processes that run one program, and their collective engine ----------------===//
#include "tools/python/World.h"

#include "dlc/Error.h"
#include "runtime/collective/World.h"
#include "tools/python/Carrier.h"
#include "tools/python/Raise.h"
#include "tools/python/Value.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <tuple>
#include <vector>

namespace nb = nanobind;

namespace dlc::python {

namespace {

/// Rank and size in the world, followed by rank and size within this machine.
using PlaceTuple = std::tuple<int, int, int, int>;

/// Runs `body` with the GIL released, because `body` waits for other ranks, which may need the GIL
/// to make progress.
template <typename Body> auto runWithoutGil(const Body &body) {
  nb::gil_scoped_release free;
  return body();
}

PlaceTuple getRankPlace(const runtime::World &world) {
  return {world.rank(), world.size(), world.localRank(), world.localSize()};
}

PlaceTuple world() {
  return runWithoutGil([] { return getRankPlace(runtime::World::ofProcess()); });
}

PlaceTuple formWorld(nb::object object, const PlaceTuple &place) {
  auto *carrier = new PythonCollectives{std::move(object)};
  std::tie(carrier->place.rank, carrier->place.size, carrier->place.local_rank,
           carrier->place.local_size) = place;
  return runWithoutGil(
      [&] { return getRankPlace(runtime::World::formOfProcess(carrierEngine, carrier)); });
}

void agree(const std::string &what, const std::vector<std::string> &lines,
           const std::string &mend) {
  std::string differs;
  runWithoutGil([&] {
    try {
      runtime::World::ofProcess().agree(what, lines, mend);
    } catch (const Error &error) {
      differs = error.what();
    }
  });
  if (!differs.empty())
    raise(PyExc_ValueError, differs);
}

} // namespace

void bindWorld(nb::module_ &module) {
  module.def("world", world);
  module.def("form_world", formWorld, nb::arg("carrier"), nb::arg("place"));
  module.def("agree", agree, nb::arg("what"), nb::arg("lines"), nb::arg("mend"));
  module.def(
      "set_step", [](int64_t step) { runtime::World::ofProcess().setStep(step); }, nb::arg("step"));
  module.def(
      "abort_world",
      [](const std::string &message) {
        runWithoutGil([&] { runtime::World::ofProcess().abort(message); });
      },
      nb::arg("message"));
  module.def("leave_world", [] { runWithoutGil([] { runtime::World::ofProcess().leave(); }); });
}

} // namespace dlc::python
