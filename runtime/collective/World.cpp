//===- World.cpp - processes that run one program together -------------------===//
#include "runtime/collective/World.h"

#include "runtime/collective/Cores.h"
#include "runtime/collective/Driver.h"
#include "runtime/collective/Engine.h"
#include "runtime/program/Format.h"
#include "runtime/program/Message.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <unistd.h>

namespace dlc::runtime {

struct World::Impl {
  Driver driver;
  std::mutex mutex;
  std::optional<WorldLink> link;
};

std::string_view collectiveName(Collective what) {
  constexpr std::string_view names[] = {"all_reduce", "all_gather", "reduce_scatter", "broadcast",
                                        "ordered_sum"};
  return names[static_cast<int>(what)];
}

namespace {

/// Owner of the process's world. Its destructor leaves the world at process exit, as launchers
/// require.
struct ProcessWorld {
  ~ProcessWorld() {
    // A forked child has no thread of the world and must not leave it.
    if (process == getpid())
      return;
    [[maybe_unused]] World *parents = world.release();
  }
  std::mutex mutex;
  std::unique_ptr<World> world;
  pid_t process = getpid();
};

ProcessWorld &getProcessWorld() {
  static ProcessWorld one;
  return one;
}

/// Does the setup that all ranks must do together, when the world is formed: CPU binding and
/// measurement of the network.
void initializeWorld(World &world) {
  bindRankProcessors(world);
  world.link();
}

std::unique_ptr<World> openLaunchedWorld() {
  LaunchedEngine launched = findLaunchedEngine();
  if (!launched.engine)
    return std::make_unique<World>();
  auto formed = std::make_unique<World>(*launched.engine);
  if (formed->size() != launched.size)
    fail("$", launched.variable, " is set to ", launched.size, " ranks, but ",
         launched.engine->name, " reports ", formed->size(),
         "; start the ranks with the launcher of that library (srun: --mpi=pmix)");
  initializeWorld(*formed);
  return formed;
}

} // namespace

World &World::ofProcess() {
  ProcessWorld &own = getProcessWorld();
  std::lock_guard lock(own.mutex);
  if (!own.world)
    own.world = openLaunchedWorld();
  return *own.world;
}

World &World::formOfProcess(const dlc_engine_table &engine, const void *argument) {
  ProcessWorld &own = getProcessWorld();
  std::lock_guard lock(own.mutex);
  if (own.world)
    fail(
        "the processes that run the program are already connected, as a world of ",
        own.world->size(), " rank", own.world->size() == 1 ? "" : "s",
        "; required: to set the engine before the world is used, for example by a program that has "
        "collectives");
  requireVersion(engine, std::string("the engine ") + engine.name);
  auto formed = std::make_unique<World>(engine, argument);
  initializeWorld(*formed);
  own.world = std::move(formed);
  return *own.world;
}

World::World() = default;

World::World(const dlc_engine_table &engine, const void *argument)
    : impl(new Impl{.driver = {engine, argument}, .mutex = {}, .link = {}}) {
  here = impl->driver.place;
}

World::~World() = default;

std::string_view World::engine() const { return impl ? impl->driver.engine.name : ""; }

namespace {

void checkCollectiveCall(const CollectiveCall &call, int size) {
  auto name = collectiveName(call.collective);
  if (call.share > 0 && (!call.from || !call.to))
    fail(name, ": required: memory for input and output; found: a null pointer");
  if (call.collective == Collective::Broadcast && (call.root < 0 || call.root >= size))
    fail(name, ": required: a root from 0 to ", size - 1, "; found: ", call.root);
  if (call.collective == Collective::OrderedSum && (call.chunks <= 0 || call.chunks % size != 0))
    fail(name, ": required: a number of chunks that is divisible by the number of ranks; found: ",
         call.chunks, " chunks and ", size,
         " ranks; start a number of ranks that divides the number of chunks");
}

void executeOnSingleRank(const CollectiveCall &call) {
  if (call.collective == Collective::OrderedSum)
    sumInOrder(call.type, call.to, call.from, static_cast<uint64_t>(call.chunks), call.share);
  else if (call.to != call.from)
    std::memmove(call.to, call.from, call.share * dtypeBytes(call.type));
}

} // namespace

Ticket World::start(const CollectiveCall &call) {
  checkCollectiveCall(call, size());
  if (call.share == 0)
    return {};
  if (!impl) {
    executeOnSingleRank(call);
    return {};
  }
  auto state = std::make_shared<Ticket::State>();
  state->call = call;
  impl->driver.give(state);
  return Ticket(std::move(state));
}

bool World::done(const Ticket &ticket) {
  if (!ticket)
    return true;
  int phase = ticket.state->phase.load(std::memory_order_acquire);
  if (phase == Ticket::State::Failed)
    throw Error(ticket.state->error);
  return phase == Ticket::State::Done;
}

void World::wait(const Ticket &ticket) {
  if (done(ticket))
    return;
  impl->driver.wait(ticket.state);
  done(ticket);
}

TicketTimes World::times(const Ticket &ticket) {
  return ticket ? ticket.state->times : TicketTimes{};
}

void World::barrier() {
  int32_t mine = 0, all = 0;
  run({.type = DType::I32, .from = &mine, .to = &all, .share = 1, .reduction = Reduction::Max});
}

namespace {

/// Returns whether all ranks have the same text, by comparing the minimum and the maximum of its
/// hashes.
bool isSameOnAllRanks(World &world, const std::string &text) {
  const auto hash =
      static_cast<int64_t>(format::hashBytes(text.data(), text.size()) & uint64_t(INT64_MAX));
  std::array<int64_t, 2> greatest{hash, INT64_MAX - hash};
  world.run({.type = DType::I64,
             .from = greatest.data(),
             .to = greatest.data(),
             .share = greatest.size(),
             .reduction = Reduction::Max});
  return greatest[0] == INT64_MAX - greatest[1];
}

} // namespace

void World::agree(std::string_view what, std::span<const std::string> lines,
                  std::string_view hint) {
  if (size() == 1)
    return;
  std::string mine;
  for (const std::string &line : lines)
    mine += line + '\n';
  if (isSameOnAllRanks(*this, mine))
    return;
  auto ranks = static_cast<size_t>(size());
  uint64_t length = mine.size();
  std::vector<uint64_t> lengths(ranks);
  run({.collective = Collective::AllGather,
       .type = DType::U64,
       .from = &length,
       .to = lengths.data(),
       .share = 1});
  uint64_t longest = *std::max_element(lengths.begin(), lengths.end());
  mine.resize(longest);
  std::string all(longest * ranks, 0);
  run({.collective = Collective::AllGather,
       .type = DType::U8,
       .from = mine.data(),
       .to = all.data(),
       .share = longest});
  auto textOf = [&](size_t rank) {
    return std::string_view(all).substr(rank * longest, lengths[rank]);
  };
  std::string_view first = textOf(0);
  std::vector<size_t> others;
  for (size_t rank = 1; rank < ranks; ++rank)
    if (textOf(rank) != first)
      others.push_back(rank);
  if (others.empty())
    return;
  std::string_view other = textOf(others[0]);
  size_t same =
      std::mismatch(first.begin(), first.end(), other.begin(), other.end()).first - first.begin();
  size_t line = same == 0 ? 0 : first.rfind('\n', same - 1) + 1;
  auto lineOf = [&](std::string_view text) {
    text = text.substr(std::min(line, text.size()));
    text = text.substr(0, text.find('\n'));
    return text.empty() ? std::string("nothing") : message("'", text, "'");
  };
  fail("all ranks must have the same ", what, "; rank", others.size() > 1 ? "s " : " ",
       formatList(others), others.size() > 1 ? " have" : " has",
       " a different one than rank 0: ", lineOf(other), "; rank 0 has ", lineOf(first), "; ", hint);
}

const WorldLink &World::link() {
  static const WorldLink none;
  if (!impl || size() == 1)
    return none;
  std::lock_guard lock(impl->mutex);
  if (impl->link)
    return *impl->link;
  // Measure the time of all-reduces of kSmall and of kLarge elements, after kWarm calls in which
  // engines establish their connections.
  constexpr uint64_t kSmall = 2, kLarge = uint64_t(1) << 18;
  constexpr int kWarm = 2, kOften = 7, kSeldom = 3;
  std::vector<float> values(kLarge, 0.0f);
  auto best = [&](uint64_t count, int times) {
    double least = 1e30;
    for (int i = 0; i < kWarm + times; ++i) {
      int64_t from = steadyNs();
      run({.from = values.data(), .to = values.data(), .share = count});
      if (i >= kWarm)
        least = std::min(least, static_cast<double>(steadyNs() - from) * 1e-9);
    }
    return least;
  };
  double small = best(kSmall, kOften), large = best(kLarge, kSeldom);
  // Take the maximum over all ranks: bucket sizes are derived from these values, so they must be
  // equal on all ranks.
  std::array<double, 2> figures{small, std::max(0.0, large - small) / (kLarge * sizeof(float))};
  run({.type = DType::F64,
       .from = figures.data(),
       .to = figures.data(),
       .share = figures.size(),
       .reduction = Reduction::Max});
  impl->link = WorldLink{figures[0], figures[1]};
  return *impl->link;
}

void World::watch(CollectiveExecutor &carrier) {
  if (impl)
    impl->driver.watchExecutor(carrier);
}

void World::forget(CollectiveExecutor &carrier) {
  if (impl)
    impl->driver.forgetExecutor(carrier);
}

uint64_t World::carriedStarts() { return impl ? impl->driver.carriedStarts() : 0; }

void World::carriedEnds(uint64_t number) {
  if (impl)
    impl->driver.carriedEnds(number);
}

void World::setStep(int64_t step) {
  if (impl)
    impl->driver.step = step;
}

void World::alive() {
  if (impl)
    impl->driver.life.fetch_add(1, std::memory_order_relaxed);
}

void World::leave() {
  if (impl)
    impl->driver.leave();
}

void World::abort(const std::string &message) {
  if (impl)
    impl->driver.abort(message);
  throw Error(message);
}

} // namespace dlc::runtime
