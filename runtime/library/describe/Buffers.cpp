//===- Buffers.cpp - a convolution's buffers, checked one after the other -----------===//
#include "runtime/library/describe/Buffers.h"

#include "runtime/program/Message.h"

namespace dlc::describe {

using runtime::fail;
using simd::Step;

void Buffers::need(const char *name, int64_t elements, bool written) {
  if (next >= given.size())
    fail(library, ": no buffer for '", name, "': ", given.size(), " given");
  if (given[next].bytes < static_cast<uint64_t>(elements) * sizeof(float))
    fail(library, ": buffer ", next, " ('", name, "') has ", given[next].bytes, " bytes, ",
         elements * static_cast<int64_t>(sizeof(float)), " needed");
  if (written && !given[next].writable)
    fail(library, ": buffer ", next, " ('", name,
         "') is written but lies in a constant or an input");
  ++next;
}

void Buffers::needEpilogue(bool hasBias, const std::vector<Step> &steps, int64_t results,
                           int64_t resultElements) {
  if (hasBias)
    need("bias", results);
  for (const Step &step : steps)
    if (step.kind >= Step::AddTensor)
      need("operand", step.kind == Step::AddTensor ? resultElements : results);
}

void Buffers::end() const {
  if (next != given.size())
    fail(library, ": ", next, " buffers expected, ", given.size(), " given");
}

} // namespace dlc::describe
