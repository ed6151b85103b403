//===- Fibers.cpp - runs a kernel's blocks with one fiber for each thread -----===//
//
// A thread that does not wait costs only a function call, because a fiber whose thread has ended
// runs the next thread. Fibers are switched only at points where a thread waits.
//
//===--------------------------------------------------------------------------===//
#include "test/emulator/Fibers.h"

#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <sys/mman.h>
#include <vector>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

#ifndef __x86_64__
#error "the emulated GPU switches fibers on x86-64 only"
#endif

/// Saves the callee-saved registers on the stack, stores the stack pointer in *from, and resumes
/// the fiber whose stack pointer is `to`.
extern "C" void dlc_emulated_switch(void **from, void *to);
asm(R"(
.text
.globl dlc_emulated_switch
.hidden dlc_emulated_switch
.type dlc_emulated_switch,@function
dlc_emulated_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size dlc_emulated_switch, .-dlc_emulated_switch
)");

namespace dlc_emulated {

namespace {

constexpr size_t stackBytes = 256 * 1024;
constexpr size_t guardBytes = 4096;

/// A stack that threads run on, and the stack pointer at which it was suspended.
struct Fiber {
  void *stackPointer = nullptr;
  char *stack = nullptr;
  size_t bytes = stackBytes;
  void *fakeStack = nullptr;
  int thread = -1;
};

struct AsyncCopy {
  void *to;
  const void *from;
  int bytes, valid;
};

enum class State : uint8_t { Unstarted, Ready, AtBarrier, InCollective, Ended };

struct Thread {
  State state = State::Unstarted;
  int fiber = -1;
  unsigned mask = 0;
  void *mine = nullptr;
  std::deque<std::vector<AsyncCopy>> groups;
  std::vector<AsyncCopy> open;
};

struct Machine {
  // The kernel that runs and its arguments.
  const Image *image = nullptr;
  const Kernel *kernel = nullptr;
  void *const *arguments = nullptr;
  Extent block = {};
  ThreadOrder order = ThreadOrder::Forward;
  // State of the current block.
  std::vector<Thread> threads;
  int count = 0, ended = 0, atBarrier = 0, predicates = 0, released = 0;
  int current = -1; // index of the running fiber
  std::string fault;
  bool enteredFromMain = false;
  // State that is reused by later launches.
  std::vector<std::unique_ptr<Fiber>> fibers;
  std::vector<int> idle;
  Fiber main;
};

Machine machine;

void leave(Fiber &from, Fiber &to) {
#ifdef __SANITIZE_ADDRESS__
  __sanitizer_start_switch_fiber(&from.fakeStack, to.stack, to.bytes);
#endif
  dlc_emulated_switch(&from.stackPointer, to.stackPointer);
#ifdef __SANITIZE_ADDRESS__
  __sanitizer_finish_switch_fiber(from.fakeStack, nullptr, nullptr);
#endif
}

Fiber &running() { return *machine.fibers[machine.current]; }
Thread &me() { return machine.threads[running().thread]; }

/// Maps a thread to its position in the order of running. The map is its own inverse.
int mapped(int position) {
  return machine.order == ThreadOrder::Forward ? position : machine.count - 1 - position;
}

/// Returns the next thread in the order that can run, or -1 if there is none.
int nextThread(int after) {
  int position = after < 0 ? -1 : mapped(after);
  for (int i = 0; i < machine.count; ++i) {
    if (++position >= machine.count)
      position = 0;
    int thread = mapped(position);
    State state = machine.threads[thread].state;
    if (state == State::Unstarted || state == State::Ready)
      return thread;
  }
  return -1;
}

void setPlace(int thread) {
  unsigned index = static_cast<unsigned>(thread);
  const Extent &b = machine.block;
  machine.image->place->thread = {index % b.x, index / b.x % b.y, index / b.x / b.y};
}

void fiberMain();

int takeFiber() {
  int index;
  if (machine.idle.empty()) {
    index = static_cast<int>(machine.fibers.size());
    auto fiber = std::make_unique<Fiber>();
    void *memory = mmap(nullptr, stackBytes + guardBytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    mprotect(memory, guardBytes, PROT_NONE);
    fiber->stack = static_cast<char *>(memory) + guardBytes;
    machine.fibers.push_back(std::move(fiber));
  } else {
    index = machine.idle.back();
    machine.idle.pop_back();
  }
  Fiber &fiber = *machine.fibers[index];
#ifdef __SANITIZE_ADDRESS__
  __asan_unpoison_memory_region(fiber.stack, stackBytes);
#endif
  // Initial stack contents that dlc_emulated_switch pops: six registers, then the return address.
  // At a function's entry the stack pointer must be 8 bytes below a multiple of 16.
  auto **top = reinterpret_cast<void **>(fiber.stack + stackBytes);
  *--top = nullptr;
  *--top = reinterpret_cast<void *>(&fiberMain);
  for (int i = 0; i < 6; ++i)
    *--top = nullptr;
  fiber.stackPointer = top;
  fiber.fakeStack = nullptr;
  return index;
}

/// Resumes the given thread on its own fiber and suspends the caller's fiber.
void yieldTo(int thread) {
  Fiber &from = running();
  int here = machine.current;
  Thread &to = machine.threads[thread];
  if (to.state == State::Unstarted) {
    to.fiber = takeFiber();
    machine.fibers[to.fiber]->thread = thread;
  }
  machine.current = to.fiber;
  setPlace(thread);
  leave(from, *machine.fibers[to.fiber]);
  machine.current = here;
  setPlace(running().thread);
}

void toMain() { leave(running(), machine.main); }

std::string describePlace() {
  const Place &p = *machine.image->place;
  auto text = [](const Extent &e) {
    return "(" + std::to_string(e.x) + ", " + std::to_string(e.y) + ", " + std::to_string(e.z) +
           ")";
  };
  return "block " + text(p.block) + ", thread " + text(p.thread);
}

void trap(const char *why) {
  if (machine.fault.empty())
    machine.fault = std::string(why) + " in " + describePlace();
  toMain();
  __builtin_unreachable();
}

/// Suspends the calling thread and resumes the next thread that can run. Reports a deadlock if
/// there is none.
void wait() {
  int next = nextThread(running().thread);
  if (next < 0)
    trap("all threads wait: a barrier that not all reach, or lanes of a warp that are not there");
  yieldTo(next);
}

bool releaseBarrier() {
  if (machine.atBarrier == 0 || machine.atBarrier + machine.ended < machine.count)
    return false;
  machine.released = machine.predicates;
  machine.atBarrier = machine.predicates = 0;
  for (int i = 0; i < machine.count; ++i)
    if (machine.threads[i].state == State::AtBarrier)
      machine.threads[i].state = State::Ready;
  return true;
}

int barrier(int predicate) {
  ++machine.atBarrier;
  machine.predicates += predicate != 0;
  me().state = State::AtBarrier;
  if (!releaseBarrier())
    wait();
  me().state = State::Ready;
  return machine.released;
}

/// Completes the collective operation that the thread's lane waits in, if all lanes of its mask
/// have arrived.
bool completeCollective(int thread, void (*complete)(void *const *, unsigned)) {
  unsigned mask = machine.threads[thread].mask;
  int first = thread / 32 * 32;
  void *all[32] = {};
  for (int lane = 0; lane < 32; ++lane) {
    if (!(mask >> lane & 1) || first + lane >= machine.count)
      continue;
    const Thread &other = machine.threads[first + lane];
    if (other.state == State::Ended)
      continue;
    if (other.state != State::InCollective)
      return false;
    if (other.mask != mask)
      trap("lanes of a warp meet with different masks");
    all[lane] = other.mine;
  }
  complete(all, mask);
  for (int lane = 0; lane < 32; ++lane)
    if (all[lane])
      machine.threads[first + lane].state = State::Ready;
  return true;
}

/// Completion function of each waiting lane's collective. A lane that ends may complete the
/// collective of the remaining lanes.
std::vector<void (*)(void *const *, unsigned)> completions;

void collective(unsigned mask, void *mine, void (*complete)(void *const *, unsigned)) {
  int thread = running().thread;
  Thread &self = me();
  if (!(mask >> (thread % 32) & 1))
    trap("a lane of a warp is not in the mask that it gives");
  self.mask = mask;
  self.mine = mine;
  self.state = State::InCollective;
  completions[thread] = complete;
  if (!completeCollective(thread, complete))
    wait();
}

void perform(const std::vector<AsyncCopy> &group) {
  for (const AsyncCopy &c : group) {
    std::memset(c.to, 0, c.bytes);
    if (c.valid > 0)
      std::memcpy(c.to, c.from, c.valid < c.bytes ? c.valid : c.bytes);
  }
}

void copyAsync(void *to, const void *from, int bytes, int valid) {
  me().open.push_back({to, from, bytes, valid});
}

void commitGroup() {
  me().groups.push_back(std::move(me().open));
  me().open.clear();
}

void waitGroups(int pending) {
  auto &groups = me().groups;
  for (; static_cast<int>(groups.size()) > pending; groups.pop_front())
    perform(groups.front());
}

const Services services = {barrier, collective, copyAsync, commitGroup, waitGroups, trap};

/// Main loop of a fiber. It runs threads as long as the next thread in the order has not been
/// started.
void fiberMain() {
#ifdef __SANITIZE_ADDRESS__
  const void *bottom = nullptr;
  size_t bytes = 0;
  __sanitizer_finish_switch_fiber(nullptr, &bottom, &bytes);
  if (machine.enteredFromMain) {
    machine.main.stack = static_cast<char *>(const_cast<void *>(bottom));
    machine.main.bytes = bytes;
    machine.enteredFromMain = false;
  }
#endif
  int here = machine.current;
  for (;;) {
    int thread = running().thread;
    machine.kernel->run(machine.arguments);
    machine.current = here;
    Thread &self = machine.threads[thread];
    self.state = State::Ended;
    if (!self.groups.empty() || !self.open.empty()) {
      self.groups.clear();
      self.open.clear();
    }
    ++machine.ended;
    releaseBarrier();
    for (int lane = thread / 32 * 32; lane < thread / 32 * 32 + 32 && lane < machine.count; ++lane)
      if (machine.threads[lane].state == State::InCollective)
        completeCollective(lane, completions[lane]);
    int next = nextThread(thread);
    if (next >= 0 && machine.threads[next].state == State::Unstarted) {
      machine.threads[next].fiber = here;
      running().thread = next;
      setPlace(next);
      continue;
    }
    // A finished fiber is never resumed. It is initialized again when a fiber is needed.
    machine.idle.push_back(here);
    if (next >= 0) {
      yieldTo(next);
    } else if (machine.ended == machine.count) {
      toMain();
    } else {
      trap("all threads wait: a barrier that not all reach, or lanes of a warp that are not there");
    }
  }
}

void runBlock() {
  machine.threads.resize(machine.count);
  for (Thread &t : machine.threads)
    t.state = State::Unstarted;
  completions.assign(machine.count, nullptr);
  machine.ended = machine.atBarrier = machine.predicates = 0;
  int first = mapped(0);
  machine.current = takeFiber();
  machine.threads[first].fiber = machine.current;
  running().thread = first;
  setPlace(first);
  machine.enteredFromMain = true;
  leave(machine.main, running());
}

} // namespace

std::string runKernel(const Image &image, const Kernel &kernel, Extent grid, Extent block,
                      unsigned dynamicShared, void *const *arguments, ThreadOrder order) {
  machine.image = &image;
  machine.kernel = &kernel;
  machine.arguments = arguments;
  machine.block = block;
  machine.order = order;
  machine.count = static_cast<int>(block.x * block.y * block.z);
  machine.fault.clear();
  *image.services = &services;
  image.place->blocks = grid;
  image.place->threads = block;
  // The contents of shared memory are undefined when a kernel starts, so it is filled with NaN.
  if (image.sharedEnd > image.sharedBegin)
    std::memset(image.sharedBegin, 0xff, image.sharedEnd - image.sharedBegin);
  std::vector<char> shared(dynamicShared + 256, static_cast<char>(0xff));
  auto address = reinterpret_cast<uintptr_t>(shared.data() + 127) & ~uintptr_t{127};
  image.place->dynamicShared = reinterpret_cast<void *>(address);
  for (unsigned z = 0; z < grid.z && machine.fault.empty(); ++z)
    for (unsigned y = 0; y < grid.y && machine.fault.empty(); ++y)
      for (unsigned x = 0; x < grid.x && machine.fault.empty(); ++x) {
        image.place->block = {x, y, z};
        runBlock();
      }
  if (!machine.fault.empty()) {
    // A fault left threads suspended. Their fibers are initialized again.
    machine.idle.clear();
    for (size_t i = 0; i < machine.fibers.size(); ++i)
      machine.idle.push_back(static_cast<int>(i));
    machine.threads.clear();
  }
  return machine.fault;
}

} // namespace dlc_emulated
