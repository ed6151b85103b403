//===- Protobuf.cpp - libprotobuf.a symbols that cannot be linked into a shared library -------===//
// Debian compiles libprotobuf.a for executables: three of its members access variables of other
// libraries or thread-local variables with relocations that a shared library must not contain. This
// file defines the symbols of those members that other members reference: arenas, whose functions
// are never called because dlc parses no model into an arena, and logging. If a symbol is missing,
// the linker reports it.
#include <google/protobuf/arena.h>
#include <google/protobuf/stubs/logging.h>
#include <google/protobuf/stubs/port.h>

#include <cstdio>
#include <cstdlib>
#include <stdexcept>

// Vtable of the type infos of fundamental types, for a type info of `char` that protobuf's arenas
// take. A copy of the C++ library's type info is sufficient, because they are compared by name.
extern const void *const kFundamentalTypes[] __asm__("_ZTVN10__cxxabiv123__fundamental_type_infoE");
struct MessageTypeInfo {
  const void *table;
  const char *name;
};
[[gnu::visibility("hidden")]] extern const MessageTypeInfo typeOfChar __asm__("_ZTIc");
const MessageTypeInfo typeOfChar = {kFundamentalTypes + 2, "c"};

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
