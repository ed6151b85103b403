//===- Compact.cpp - removes weights from a serialized model before parsing --===//
// protobuf copies every byte of a model when it parses the model, and most of the bytes are
// weights. So the weights are removed before parsing: a walk over the wire format enters only the
// messages that may contain a tensor.
#include "frontend/onnx/file/ModelFile.h"

namespace dlc::onnxfront {
namespace {

enum Kind { Opaque, Model, Graph, NodeMessage, Attribute, TensorMessage, SparseTensor, Function };

/// Returns the kind of the message in a length-delimited field of a message of kind `kind`; Opaque
/// if the field cannot contain tensors.
Kind getChildKind(Kind kind, uint64_t field) {
  switch (kind) {
  case Model:
    return field == 7 ? Graph : field == 25 ? Function : Opaque;
  case Graph:
    return field == 1    ? NodeMessage
           : field == 5  ? TensorMessage
           : field == 15 ? SparseTensor
                         : Opaque;
  case NodeMessage:
    return field == 5 ? Attribute : Opaque;
  case Attribute:
    if (field == 5 || field == 10)
      return TensorMessage;
    if (field == 6 || field == 11)
      return Graph;
    return field == 22 || field == 23 ? SparseTensor : Opaque;
  case SparseTensor:
    return field == 1 || field == 2 ? TensorMessage : Opaque;
  case Function:
    return field == 7 ? NodeMessage : field == 11 ? Attribute : Opaque;
  case TensorMessage:
  case Opaque:
    break;
  }
  return Opaque;
}

void appendVarint(std::string &out, uint64_t value) {
  while (value >= 0x80) {
    out.push_back(char(value | 0x80));
    value >>= 7;
  }
  out.push_back(char(value));
}

class MessageWalker {
public:
  MessageWalker(llvm::StringRef bytes, size_t threshold, std::vector<Extent> &extents,
                std::string &reason)
      : bytes(bytes), threshold(threshold), extents(extents), reason(reason) {}

  bool message(Kind kind, uint64_t begin, uint64_t end, int depth, std::string &out) {
    // protobuf has the same limit of 100 nested messages.
    if (depth > 100)
      return fail(
          begin,
          "its messages are nested more than 100 deep: the file is damaged, or of another format");
    uint64_t at = begin;
    while (at < end) {
      uint64_t start = at, tag = 0;
      if (!varint(at, end, tag))
        return false;
      uint64_t field = tag >> 3;
      if (field == 0 || field > 0x1fffffff)
        return fail(start,
                    "a field number is out of range: the file is damaged, or of another format");
      if ((tag & 7) != 2) {
        if (!skipScalar(tag & 7, at, end))
          return false;
        if (!(kind == TensorMessage && field == extentField))
          out.append(bytes.data() + start, at - start);
        continue;
      }
      uint64_t length = 0;
      if (!varint(at, end, length))
        return false;
      if (length > end - at)
        return fail(start, "a field of " + std::to_string(length) +
                               " bytes is longer than the remaining message (" +
                               std::to_string(end - at) +
                               " bytes): the file is cut off or damaged");
      if (!lengthDelimited(kind, field, start, at, length, depth, out))
        return false;
      at += length;
    }
    return true;
  }

private:
  bool lengthDelimited(Kind kind, uint64_t field, uint64_t start, uint64_t at, uint64_t length,
                       int depth, std::string &out) {
    if (kind == TensorMessage) {
      if (field == extentField)
        return true;
      if (field == 9 && length >= threshold) {
        appendVarint(out, uint64_t(extentField) << 3);
        appendVarint(out, extents.size());
        extents.push_back({at, length});
        return true;
      }
    }
    Kind child = getChildKind(kind, field);
    if (child == Opaque || length < threshold) {
      // A message shorter than the threshold contains no tensor that is large enough to remove. It
      // is copied without a walk unless it may contain the marker field, which a malicious file
      // could use to forge an index. The walk removes the marker field.
      if (child == Opaque || !mayHoldMarker(at, length)) {
        out.append(bytes.data() + start, at + length - start);
        return true;
      }
    }
    std::string inner;
    if (!message(child, at, at + length, depth + 1, inner))
      return false;
    appendVarint(out, field << 3 | 2);
    appendVarint(out, inner.size());
    out += inner;
    return true;
  }

  /// Returns whether the bytes contain the tag of the marker field: (1000 << 3) | 0 or 2.
  bool mayHoldMarker(uint64_t at, uint64_t length) const {
    llvm::StringRef part = bytes.substr(at, length);
    return part.contains(llvm::StringRef("\xc0\x3e", 2)) ||
           part.contains(llvm::StringRef("\xc2\x3e", 2));
  }

  bool varint(uint64_t &at, uint64_t end, uint64_t &value) {
    value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (at >= end)
        return fail(at, "a number ends past its message: the file is cut off or damaged");
      uint8_t byte = bytes[at++];
      value |= uint64_t(byte & 0x7f) << shift;
      if (!(byte & 0x80))
        return true;
    }
    return fail(at, "a number is longer than 10 bytes: the file is damaged, or of another format");
  }

  bool skipScalar(unsigned wireType, uint64_t &at, uint64_t end) {
    uint64_t ignored;
    if (wireType == 0)
      return varint(at, end, ignored);
    uint64_t width = wireType == 1 ? 8 : wireType == 5 ? 4 : 0;
    if (!width)
      return fail(at, "wire type " + std::to_string(wireType) + " does not occur in ONNX");
    if (end - at < width)
      return fail(at, "a number ends past its message: the file is cut off or damaged");
    at += width;
    return true;
  }

  bool fail(uint64_t at, const std::string &why) {
    reason = "at byte " + std::to_string(at) + ": " + why;
    return false;
  }

  llvm::StringRef bytes;
  size_t threshold;
  std::vector<Extent> &extents;
  std::string &reason;
};

} // namespace

bool compactModel(llvm::StringRef bytes, size_t threshold, std::string &compact,
                  std::vector<Extent> &extents, std::string &reason) {
  return MessageWalker(bytes, threshold, extents, reason)
      .message(Model, 0, bytes.size(), 0, compact);
}

} // namespace dlc::onnxfront
