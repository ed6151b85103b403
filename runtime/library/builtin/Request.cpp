//===- Request.cpp - reading the description of a built-in kernel -------------===//
#include "runtime/library/builtin/Builtin.h"
#include "runtime/program/Numeric.h"

namespace dlc::runtime::builtin {

KernelRequest::KernelRequest(const nlohmann::json &desc, const char *kind,
                             std::span<const BufferInfo> buffers, int threads)
    : desc(desc), name(std::string("built-in kernel '") + kind + "'"), buffers(buffers.size()),
      threads(threads), given(buffers, name) {}

void KernelRequest::need(const char *name, int64_t elements, DType type, bool written) {
  given.need(name, elements, dtypeBytes(type), written);
}

AxisSplit::AxisSplit(const schema::AxisCall &fields)
    : outer(fields.outer), len(fields.len), inner(fields.inner) {
  int64_t total = 1;
  for (int64_t part : {outer, len, inner})
    if (__builtin_mul_overflow(total, part, &total) || total > schema::kMaxSize)
      fields.complain("outer * len * inner is too large");
}

void requireFloating(const schema::Record &fields, const char *name, DType type) {
  if (!isFloating(type))
    fields.complain("'", name, "' must be a floating-point type; found: ", dtypeName(type));
}

void requireIndex(const schema::Record &fields, const char *name, DType type) {
  if (type != DType::I32 && type != DType::I64)
    fields.complain("'", name, "' must be i32 or i64; found: ", dtypeName(type));
}

namespace {

class FunctionCall : public LibraryCall {
public:
  FunctionCall(std::string name, Body body, uint64_t scratch)
      : name(std::move(name)), body(std::move(body)), scratch(scratch) {}
  void execute(void *const *buffers, const CallContext &context) override {
    body(buffers, context);
  }
  std::string implementation() const override { return name; }
  uint64_t scratchBytes() const override { return scratch; }

private:
  std::string name;
  Body body;
  uint64_t scratch;
};

} // namespace

std::unique_ptr<LibraryCall> makeCall(const std::string &name, Body body, uint64_t scratchBytes) {
  return std::make_unique<FunctionCall>("builtin:" + name, std::move(body), scratchBytes);
}

} // namespace dlc::runtime::builtin
