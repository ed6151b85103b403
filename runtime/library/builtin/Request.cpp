//===- Request.cpp - reading the description of a built-in kernel -------------===//
#include "runtime/library/builtin/Builtin.h"
#include "runtime/program/Message.h"

namespace dlc::runtime::builtin {

using nlohmann::json;

static constexpr int64_t kMaxSize = int64_t(1) << 46;

void Request::complain(const std::string &what) const {
  fail("built-in kernel '", desc.value("kind", "?"), "': ", what);
}

bool Request::has(const char *name) const {
  auto found = desc.find(name);
  return found != desc.end() && !found->is_null();
}

int64_t Request::size(const char *name) const {
  int64_t value = integer(name, -1);
  if (value < 0 || value > kMaxSize)
    complain(
        message("'", name, "' must be a size, found ", has(name) ? desc[name].dump() : "nothing"));
  return value;
}

int64_t Request::integer(const char *name, int64_t otherwise) const {
  if (!has(name))
    return otherwise;
  if (!desc[name].is_number_integer())
    complain(message("'", name, "' must be an integer, found ", desc[name].dump()));
  return desc[name].get<int64_t>();
}

double Request::number(const char *name, double otherwise) const {
  if (!has(name))
    return otherwise;
  if (!desc[name].is_number())
    complain(message("'", name, "' must be a number, found ", desc[name].dump()));
  return desc[name].get<double>();
}

bool Request::flag(const char *name, bool otherwise) const {
  if (!has(name))
    return otherwise;
  if (!desc[name].is_boolean())
    complain(message("'", name, "' must be true or false, found ", desc[name].dump()));
  return desc[name].get<bool>();
}

std::string Request::word(const char *name, const char *otherwise) const {
  if (!has(name))
    return otherwise;
  if (!desc[name].is_string())
    complain(message("'", name, "' must be a string, found ", desc[name].dump()));
  return desc[name].get<std::string>();
}

std::vector<int64_t> Request::sizes(const char *name) const {
  std::vector<int64_t> values;
  if (!has(name) || !desc[name].is_array() || desc[name].size() > 32)
    complain(message("'", name, "' must be a list of at most 32 sizes"));
  int64_t total = 1;
  for (const json &value : desc[name]) {
    if (!value.is_number_integer() || value.get<int64_t>() < 0 || value.get<int64_t>() > kMaxSize)
      complain(message("'", name, "' must be a list of sizes, found ", value.dump()));
    values.push_back(value.get<int64_t>());
    if (__builtin_mul_overflow(total, values.back(), &total) || total > kMaxSize)
      complain(message("'", name, "' ", listed(values), " is too large"));
  }
  return values;
}

DType Request::dtype(const char *name) const {
  std::string text = word(name, "");
  auto parsed = parseDType(text);
  if (!parsed)
    complain(message("'", name, "': unknown element type '", text, "'"));
  return *parsed;
}

DType Request::indexType(const char *name) const {
  DType type = dtype(name);
  if (type != DType::I32 && type != DType::I64)
    complain(message("'", name, "' must be i32 or i64, found ", dtypeName(type)));
  return type;
}

void Request::expectBuffers(size_t count) const {
  if (buffers.size() != count)
    complain(message(count, " buffers expected, ", buffers.size(), " given"));
}

void Request::need(size_t buffer, const char *name, int64_t elements, DType type,
                   bool written) const {
  uint64_t bytes = static_cast<uint64_t>(elements) * dtypeBytes(type);
  if (buffers[buffer].bytes < bytes)
    complain(message("buffer ", buffer, " ('", name, "') has ", buffers[buffer].bytes, " bytes, ",
                     bytes, " needed"));
  if (written && !buffers[buffer].writable)
    complain(message("buffer ", buffer, " ('", name,
                     "') is written but lies in a constant or an input"));
}

Lines::Lines(const Request &request)
    : outer(request.size("outer")), len(request.size("len")), inner(request.size("inner")) {
  int64_t total = 1;
  for (int64_t part : {outer, len, inner})
    if (__builtin_mul_overflow(total, part, &total) || total > kMaxSize)
      request.complain("outer * len * inner is too large");
}

int64_t product(const std::vector<int64_t> &dims) {
  int64_t total = 1;
  for (int64_t dim : dims)
    total *= dim;
  return total;
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
