//===- Protobuf.cpp - what libprotobuf.a cannot bring into a shared library -------===//
// Debian compiles it for programs: three members address variables of other libraries, or their
// thread's, as only a program may. Here is what others want of those members: arenas, which dlc
// reads no model into, so that they are never called, and the log. Where this is not all, the
// linker says so.
#include <google/protobuf/arena.h>
#include <google/protobuf/stubs/logging.h>
#include <google/protobuf/stubs/port.h>

#include <cstdio>
#include <cstdlib>
#include <stdexcept>

// Handed to arenas. This copy is as good as the C++ library's: types are compared by name.
extern const void *const kFundamentalTypes[] __asm__("_ZTVN10__cxxabiv123__fundamental_type_infoE");
struct TypeInfo {
  const void *table;
  const char *name;
};
[[gnu::visibility("hidden")]] extern const TypeInfo typeOfChar __asm__("_ZTIc");
const TypeInfo typeOfChar = {kFundamentalTypes + 2, "c"};

namespace google::protobuf {

uint32_t ghtonl(uint32_t x) { return __builtin_bswap32(x); }

void *Arena::AllocateAlignedWithHook(size_t, const std::type_info *) { std::abort(); }
void *Arena::AllocateAlignedWithHookForArray(size_t, const std::type_info *) { std::abort(); }
std::pair<void *, internal::SerialArena::CleanupNode *>
Arena::AllocateAlignedWithCleanup(size_t, const std::type_info *) {
  std::abort();
}

namespace internal {

__thread ThreadSafeArena::ThreadCache ThreadSafeArena::thread_cache_ = {0, uint64_t(-1), nullptr};
ThreadSafeArena::~ThreadSafeArena() { std::abort(); }
void ThreadSafeArena::AddCleanup(void *, void (*)(void *)) { std::abort(); }
uint64_t ThreadSafeArena::SpaceAllocated() const { std::abort(); }
uint64_t ThreadSafeArena::SpaceUsed() const { std::abort(); }

LogMessage::LogMessage(LogLevel level, const char *filename, int line)
    : level_(level), filename_(filename), line_(line) {}
LogMessage::~LogMessage() = default;
LogMessage &LogMessage::operator<<(const char *value) { return message_ += value, *this; }
LogMessage &LogMessage::operator<<(const std::string &value) { return message_ += value, *this; }
LogMessage &LogMessage::operator<<(const StringPiece &value) { return *this << std::string(value); }
LogMessage &LogMessage::operator<<(int value) { return *this << std::to_string(value); }
LogMessage &LogMessage::operator<<(unsigned int value) { return *this << std::to_string(value); }
LogMessage &LogMessage::operator<<(unsigned long value) { return *this << std::to_string(value); }
LogMessage &LogMessage::operator<<(void *) { return *this << "a pointer"; }
void LogMessage::Finish() {
  if (level_ == LOGLEVEL_FATAL)
    throw std::logic_error("protobuf: " + message_);
  std::fprintf(stderr, "protobuf: %s\n", message_.c_str());
}
void LogFinisher::operator=(LogMessage &other) { other.Finish(); }

} // namespace internal
} // namespace google::protobuf
