//===- Request.cpp - reading the description of a built-in kernel -------------===//
#include "runtime/library/builtin/Builtin.h"

namespace dlc::runtime::builtin {

static std::string formatKernelName(const nlohmann::json &desc) {
  return "built-in kernel '" + describe::Fields(desc, "built-in kernel").kind() + "'";
}

KernelRequest::KernelRequest(const nlohmann::json &desc, std::span<const BufferInfo> buffers,
                             int threads)
    : Fields(desc, formatKernelName(desc)), buffers(buffers.size()), threads(threads),
      given(buffers, formatKernelName(desc)) {}

DType KernelRequest::indexType(const char *name) const {
  DType type = dtype(name);
  if (type != DType::I32 && type != DType::I64)
    refuse(name, "i32 or i64");
  return type;
}

void KernelRequest::need(const char *name, int64_t elements, DType type, bool written) {
  given.need(name, elements, dtypeBytes(type), written);
}

AxisSplit::AxisSplit(const KernelRequest &request)
    : outer(request.size("outer")), len(request.size("len")), inner(request.size("inner")) {
  int64_t total = 1;
  for (int64_t part : {outer, len, inner})
    if (__builtin_mul_overflow(total, part, &total) || total > describe::kMaxSize)
      request.complain("outer * len * inner is too large");
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
