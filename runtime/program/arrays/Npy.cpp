//===- Npy.cpp - reads and writes NumPy .npy files ---------------------------===//
#include "runtime/program/arrays/Npy.h"

#include "runtime/program/MappedFile.h"
#include "runtime/program/Message.h"
#include "runtime/program/Packed.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <limits>
#include <optional>
#include <string_view>

namespace dlc::runtime {

namespace {

constexpr char kMagic[] = "\x93NUMPY";
constexpr size_t kMagicBytes = 6;

struct DescrName {
  std::string_view descr;
  DType dtype;
};
constexpr DescrName kDescrs[] = {{"<f4", DType::F32},
                                 {"<f2", DType::F16},
                                 {"<V2", DType::BF16},
                                 {"<f8", DType::F64},
                                 {"|i1", DType::I8},
                                 {"|u1", DType::U8},
                                 {"<i2", DType::I16},
                                 {"<u2", DType::U16},
                                 {"<i4", DType::I32},
                                 {"<u4", DType::U32},
                                 {"<i8", DType::I64},
                                 {"<u8", DType::U64},
                                 {"|b1", DType::Bool},
                                 // Alternative spellings of types, accepted when reading but never
                                 // written.
                                 {"|V2", DType::BF16},
                                 {"<V1", DType::U4},
                                 {"|V1", DType::U4},
                                 {"<i1", DType::I8},
                                 {"<u1", DType::U8},
                                 {"<b1", DType::Bool},
                                 {"=f4", DType::F32},
                                 {"=f8", DType::F64}};

/// Parses the header, a Python dict literal with three known keys. Supports only the subset of
/// Python that NumPy writes.
class HeaderParser {
public:
  HeaderParser(std::string_view text, const std::string &name) : text(text), name(name) {}

  NpyArray parse(bool &fortran) {
    NpyArray array;
    bool haveDescr = false, haveOrder = false, haveShape = false;
    expect('{');
    while (!accept('}')) {
      std::string_view key = quoted();
      expect(':');
      if (key == "descr") {
        array.dtype = dtypeOf(quoted());
        haveDescr = true;
      } else if (key == "fortran_order") {
        fortran = boolean();
        haveOrder = true;
      } else if (key == "shape") {
        array.shape = shape();
        haveShape = true;
      } else {
        complain("unknown key '" + std::string(key) + "'");
      }
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    if (!haveDescr || !haveOrder || !haveShape)
      complain("required: descr, fortran_order and shape");
    skipSpace();
    if (at != text.size())
      complain("text after the closing brace");
    return array;
  }

private:
  [[noreturn]] void complain(const std::string &what) {
    fail("'", name, "': .npy header, character ", at, ": ", what);
  }
  void skipSpace() {
    while (at < text.size() && (text[at] == ' ' || text[at] == '\n' || text[at] == '\t'))
      ++at;
  }
  bool accept(char wanted) {
    skipSpace();
    if (at >= text.size() || text[at] != wanted)
      return false;
    ++at;
    return true;
  }
  void expect(char wanted) {
    if (!accept(wanted))
      complain(std::string("required: '") + wanted + "'");
  }
  std::string_view quoted() {
    skipSpace();
    char quote = at < text.size() ? text[at] : '\0';
    if (quote != '\'' && quote != '"')
      complain("required: a quoted string (structured arrays are not supported)");
    size_t end = text.find(quote, at + 1);
    if (end == std::string_view::npos)
      complain("unterminated string");
    std::string_view inside = text.substr(at + 1, end - at - 1);
    at = end + 1;
    return inside;
  }
  bool boolean() {
    skipSpace();
    for (std::string_view word : {std::string_view("True"), std::string_view("False")})
      if (text.substr(at, word.size()) == word) {
        at += word.size();
        return word == "True";
      }
    complain("required: True or False");
  }
  std::vector<int64_t> shape() {
    std::vector<int64_t> dims;
    expect('(');
    while (!accept(')')) {
      skipSpace();
      size_t start = at;
      int64_t value = 0;
      while (at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])))
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, text[at++] - '0', &value))
          complain("the dimension is too large");
      if (at == start)
        complain("required: a dimension");
      dims.push_back(value);
      if (dims.size() > 32)
        complain("required: at most 32 dimensions");
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
    return dims;
  }
  DType dtypeOf(std::string_view descr) {
    for (const DescrName &known : kDescrs)
      if (known.descr == descr)
        return known.dtype;
    std::string known;
    for (int i = 0; i <= int(DType::Bool); ++i)
      known += " " + std::string(kDescrs[i].descr);
    complain("element type '" + std::string(descr) + "' is not supported; required:" + known);
  }

  std::string_view text;
  const std::string &name;
  size_t at = 0;
};

Span toRowMajor(const NpyArray &array, size_t count) {
  size_t bytes = dtypeBytes(array.dtype);
  Span result = copyToOwnedSpan(array.data.data, array.data.bytes);
  uint8_t *to = static_cast<uint8_t *>(const_cast<void *>(result.data));
  const uint8_t *from = static_cast<const uint8_t *>(array.data.data);
  size_t rank = array.shape.size();
  std::vector<int64_t> index(rank, 0);
  std::vector<size_t> stride(rank);
  size_t step = 1;
  for (size_t d = 0; d < rank; ++d) {
    stride[d] = step;
    step *= static_cast<size_t>(array.shape[d]);
  }
  for (size_t i = 0; i < count; ++i) {
    size_t offset = 0;
    for (size_t d = 0; d < rank; ++d)
      offset += static_cast<size_t>(index[d]) * stride[d];
    std::memcpy(to + i * bytes, from + offset * bytes, bytes);
    for (size_t d = rank; d-- > 0;) {
      if (++index[d] < array.shape[d])
        break;
      index[d] = 0;
    }
  }
  return result;
}

/// Packs an array of 4-bit elements that are stored one per byte.
Span packToSpan(const NpyArray &array) {
  std::vector<char> packed(tensorBytes(DType::U4, array.shape));
  pack(array.shape, array.data.data, packed.data());
  return copyToOwnedSpan(packed.data(), packed.size());
}

/// Returns the header of a file, padded with spaces to at least `minBytes`.
std::string makeHeader(DType dtype, const std::vector<int64_t> &shape, size_t minBytes = 0) {
  std::string dims;
  for (int64_t dim : shape)
    dims += std::to_string(dim) + ", ";
  // Python writes (3,) for one dimension and (3, 4) for more.
  if (shape.size() == 1)
    dims.pop_back();
  else if (!shape.empty())
    dims.resize(dims.size() - 2);
  std::string text = message("{'descr': '", kDescrs[static_cast<int>(dtype)].descr,
                             "', 'fortran_order': False, 'shape': (", dims, "), }");
  const size_t start = kMagicBytes + 4;
  size_t total = std::max((start + text.size() + 1 + 63) / 64 * 64, minBytes);
  text.resize(total - start - 1, ' ');
  text += '\n';
  std::string header(kMagic, kMagicBytes);
  header += {1, 0, static_cast<char>(text.size() & 255), static_cast<char>(text.size() >> 8)};
  return header + text;
}

} // namespace

NpyArray parseNpy(const Span &file, const std::string &name) {
  const uint8_t *data = static_cast<const uint8_t *>(file.data);
  if (file.bytes < kMagicBytes + 4 || std::memcmp(data, kMagic, kMagicBytes) != 0)
    fail("'", name,
         "' is not a .npy file: it does not begin with \"\\x93NUMPY\" and a version; write the "
         "array with numpy.save");
  int version = data[6];
  if (version < 1 || version > 3)
    fail("'", name, "': .npy version ", version, " is not supported (1, 2 and 3 are)");
  size_t lengthBytes = version == 1 ? 2 : 4;
  size_t start = kMagicBytes + 2 + lengthBytes;
  if (file.bytes < start)
    fail("'", name, "': the .npy header is truncated after ", file.bytes, " bytes");
  uint64_t length = 0;
  for (size_t i = 0; i < lengthBytes; ++i)
    length |= uint64_t(data[kMagicBytes + 2 + i]) << (8 * i);
  if (length > file.bytes - start)
    fail("'", name, "': required: a .npy header of ", length, " bytes; the file ends after ",
         file.bytes - start);
  bool fortran = false;
  std::string_view text(reinterpret_cast<const char *>(data) + start, length);
  NpyArray array = HeaderParser(text, name).parse(fortran);
  uint64_t bytes = dtypeBytes(array.dtype);
  for (int64_t dim : array.shape)
    if (__builtin_mul_overflow(bytes, static_cast<uint64_t>(dim), &bytes))
      fail("'", name, "': shape ", formatList(array.shape), " is too large");
  uint64_t present = file.bytes - start - length;
  if (bytes != present)
    fail("'", name, "': shape ", formatList(array.shape), " of ", dtypeName(array.dtype), " needs ",
         bytes, " bytes of data; the file has ", present);
  array.data = {data + start + length, bytes, file.owner};
  if (fortran && array.shape.size() > 1 && bytes > 0)
    array.data = toRowMajor(array, bytes / dtypeBytes(array.dtype));
  if (isPacked(array.dtype))
    array.data = packToSpan(array);
  return array;
}

NpyArray packArray(const NpyArray &array, DType dtype, const std::string &name) {
  const bool isBits = array.dtype == DType::U4;
  if (!isPacked(dtype) || (!isBits && array.dtype != unpackedType(dtype)))
    return array;
  if (isBits)
    return {dtype, array.shape, array.data};
  const auto *values = static_cast<const uint8_t *>(array.data.data);
  if (uint64_t at = findUnpackable(dtype, values, array.data.bytes); at < array.data.bytes)
    fail("'", name, "': required: ", dtypeName(dtype),
         "; found: ", dtype == DType::I4 ? int(int8_t(values[at])) : int(values[at]), " (element ",
         at, "); give integers from ", packedRange(dtype));
  return {dtype, array.shape, packToSpan(array)};
}

NpyArray readNpy(const std::string &path) {
  MappedFile file(path);
  return parseNpy(file.slice(0, file.size()), path);
}

void writeNpy(const std::string &path, DType dtype, const std::vector<int64_t> &shape,
              const void *data) {
  size_t bytes = dtypeBytes(dtype);
  for (int64_t dim : shape)
    bytes *= static_cast<size_t>(dim);
  std::vector<char> values;
  if (isPacked(dtype)) {
    values.resize(bytes);
    unpack(dtype, shape, data, values.data());
    data = values.data();
    dtype = unpackedType(dtype);
  }
  const std::string header = makeHeader(dtype, shape);
  AtomicFile file(path);
  file.write(header.data(), header.size());
  file.write(data, bytes);
  file.commit();
}

NpyRows::NpyRows(const std::string &path, DType dtype, int64_t rowLength)
    : file(path), dtype(dtype), rowLength(rowLength) {
  if (!file.isRewritable())
    return;
  // Reserves the size of the header with the largest number of rows.
  headerBytes = makeHeader(dtype, {std::numeric_limits<int64_t>::max(), rowLength}).size();
  file.padTo(headerBytes);
}

void NpyRows::append(const void *row) {
  const size_t bytes = static_cast<size_t>(rowLength) * dtypeBytes(dtype);
  const char *from = static_cast<const char *>(row);
  if (file.isRewritable())
    file.write(from, bytes);
  else
    kept.insert(kept.end(), from, from + bytes);
  ++rows;
}

void NpyRows::commit() {
  const std::string header = makeHeader(dtype, {rows, rowLength}, headerBytes);
  if (file.isRewritable()) {
    file.rewrite(0, header.data(), header.size());
  } else {
    file.write(header.data(), header.size());
    file.write(kept.data(), kept.size());
  }
  file.commit();
}

} // namespace dlc::runtime
