//===- Reader.cpp - reads a .dlcx file into a Program ------------------------===//
#include "runtime/program/Reader.h"

#include "runtime/program/Format.h"
#include "runtime/program/MappedFile.h"
#include "runtime/program/Message.h"

#include <algorithm>
#include <cstring>
#include <functional>

namespace dlc::runtime {

using namespace format;

namespace {

struct Sections {
  Section manifest{}, constants{}, code{}, ir{};
};

const char *getSectionName(uint32_t kind) {
  switch (kind) {
  case Manifest:
    return "manifest";
  case Constants:
    return "constants";
  case Code:
    return "code";
  case Ir:
    return "ir";
  default:
    return "unknown";
  }
}

/// Returns a validated copy of the file header, because the caller's memory may be unaligned.
Header readHeader(const uint8_t *data, size_t size, const std::string &name) {
  if (size < sizeof(Header))
    fail("'", name, "' is not a dlc program: found ", size, " bytes; the header alone has ",
         sizeof(Header));
  Header header;
  std::memcpy(&header, data, sizeof header);
  if (std::memcmp(header.magic, kMagic, sizeof kMagic) != 0)
    fail("'", name,
         "' is not a dlc program: it does not begin with \"DLCX\"; compile the model with dlc "
         "compile");
  if (header.version != kVersion)
    fail("'", name, "' has format version ", header.version, "; this runtime requires version ",
         kVersion, "; compile the model again");
  if (header.sectionCount == 0 || header.sectionCount > kMaxSections)
    fail("'", name, "': header: ", header.sectionCount, " sections; required: 1 to ", kMaxSections);
  if (header.fileBytes != size)
    fail(
        "'", name, "' has ", size, " bytes; required by its header: ", header.fileBytes,
        "; the file is truncated, or data was appended; copy it again, or compile the model again");
  return header;
}

std::vector<Section> readTable(const uint8_t *data, size_t size, Header header,
                               const std::string &name) {
  size_t tableBytes = header.sectionCount * sizeof(Section);
  if (size - sizeof(Header) < tableBytes)
    fail("'", name, "': the section table needs ", tableBytes, " bytes; the file ends before that");
  uint64_t expected = header.tableHash;
  header.tableHash = 0;
  uint64_t found = hashBytes(data + sizeof(Header), tableBytes, hashBytes(&header, sizeof header));
  if (found != expected)
    fail("'", name, "': the header or section table is damaged (hash ", std::hex, found,
         "; required: ", expected, ")");
  std::vector<Section> table(header.sectionCount);
  std::memcpy(table.data(), data + sizeof(Header), tableBytes);
  return table;
}

void checkGap(const uint8_t *data, uint64_t begin, uint64_t end, const std::string &name) {
  if (end - begin > kPage)
    fail("'", name, "': ", end - begin, " bytes at ", begin, " are not part of any section");
  for (uint64_t i = begin; i < end; ++i)
    if (data[i] != 0)
      fail("'", name, "': the padding byte at ", i, " is not zero; the file is damaged");
}

Sections checkTable(const uint8_t *data, size_t size, std::vector<Section> table,
                    const std::string &name) {
  std::stable_sort(table.begin(), table.end(),
                   [](const Section &a, const Section &b) { return a.offset < b.offset; });
  Sections found;
  uint64_t end = sizeof(Header) + table.size() * sizeof(Section);
  for (const Section &section : table) {
    const char *kind = getSectionName(section.kind);
    if (section.offset < end || section.offset > size || section.bytes > size - section.offset)
      fail("'", name, "': section '", kind, "' at ", section.offset, " with ", section.bytes,
           " bytes overlaps another section or exceeds the file of ", size, " bytes");
    checkGap(data, end, section.offset, name);
    end = section.offset + section.bytes;
    Section *place = section.kind == Manifest    ? &found.manifest
                     : section.kind == Constants ? &found.constants
                     : section.kind == Code      ? &found.code
                     : section.kind == Ir        ? &found.ir
                                                 : nullptr;
    if (!place)
      fail("'", name, "': section of unknown kind ", section.kind);
    if (place->kind != 0)
      fail("'", name, "': found two sections of kind '", kind, "'");
    *place = section;
    bool paged = section.kind == Constants || section.kind == Code;
    if (paged && section.offset % kPage != 0)
      fail("'", name, "': section '", kind, "' at ", section.offset, " must start on a page (",
           kPage, ")");
    bool mayLackHash = section.kind == Constants && section.bytes > kHashedConstants;
    if (!(section.flags & Hashed)) {
      if (!mayLackHash)
        fail("'", name, "': section '", kind, "' has no hash");
      continue;
    }
    if (hashBytes(data + section.offset, section.bytes) != section.hash)
      fail("'", name, "': section '", kind, "' (", section.bytes, " bytes at ", section.offset,
           ") is damaged: its hash differs; copy it again, or compile the model again");
  }
  checkGap(data, end, size, name);
  if (found.manifest.kind == 0)
    fail("'", name, "': no manifest section");
  if (found.manifest.bytes > kMaxManifest)
    fail("'", name, "': required: a manifest of at most ", kMaxManifest,
         " bytes; found: ", found.manifest.bytes);
  return found;
}

std::vector<Span> readConstants(const nlohmann::json &manifest, const Span &section,
                                const std::string &name) {
  std::vector<Span> constants;
  auto list = manifest.find("constants");
  if (list == manifest.end())
    return constants;
  if (!list->is_array())
    fail("'", name, "': manifest: constants: required: an array");
  for (const nlohmann::json &entry : *list) {
    auto number = [&](const char *key) -> uint64_t {
      auto member = entry.is_object() ? entry.find(key) : entry.end();
      if (!entry.is_object() || member == entry.end() || !member->is_number_unsigned())
        fail("'", name, "': manifest: constants[", constants.size(), "].", key,
             ": required: a non-negative integer");
      return member->get<uint64_t>();
    };
    uint64_t offset = number("offset"), bytes = number("bytes");
    if (offset % kConstantAlignment != 0 || offset > section.bytes ||
        bytes > section.bytes - offset)
      fail("'", name, "': manifest: constants[", constants.size(), "]: offset ", offset, " with ",
           bytes, " bytes must be a multiple of ", kConstantAlignment, " inside the ",
           section.bytes, " bytes of the constants section");
    constants.push_back(
        {static_cast<const uint8_t *>(section.data) + offset, bytes, section.owner});
  }
  return constants;
}

Program build(const std::string &name, const Sections &sections,
              const std::function<Span(const Section &)> &slice) {
  Program program;
  Span text = slice(sections.manifest);
  const char *begin = static_cast<const char *>(text.data);
  try {
    program.manifest = nlohmann::json::parse(begin, begin + text.bytes);
  } catch (const nlohmann::json::exception &error) {
    fail("'", name, "': the manifest is not JSON: ", error.what());
  }
  if (!program.manifest.is_object())
    fail("'", name, "': the manifest must be a JSON object");
  Span constants;
  if (sections.constants.kind)
    constants = slice(sections.constants);
  program.constants = readConstants(program.manifest, constants, name);
  if (sections.ir.kind) {
    Span ir = slice(sections.ir);
    program.ir.assign(static_cast<const char *>(ir.data), ir.bytes);
  }
  return program;
}

} // namespace

Program readProgram(const std::string &path) {
  MappedFile file(path);
  Header header = readHeader(file.data(), file.size(), path);
  std::vector<Section> table = readTable(file.data(), file.size(), header, path);
  Sections sections = checkTable(file.data(), file.size(), table, path);
  Program program = build(path, sections, [&](const Section &section) {
    return file.slice(section.offset, section.bytes);
  });
  if (sections.code.kind) {
    program.code = file.mapExecutable(sections.code.offset, sections.code.bytes);
    program.codeIsExecutable = true;
  }
  return program;
}

Program readProgram(const void *bytes, size_t size, const std::string &name) {
  Span copy = copyToOwnedSpan(bytes, size);
  const uint8_t *data = static_cast<const uint8_t *>(copy.data);
  Header header = readHeader(data, size, name);
  std::vector<Section> table = readTable(data, size, header, name);
  Sections sections = checkTable(data, size, table, name);
  auto slice = [&](const Section &section) {
    return Span{data + section.offset, section.bytes, copy.owner};
  };
  Program program = build(name, sections, slice);
  if (sections.code.kind)
    program.code = slice(sections.code);
  return program;
}

} // namespace dlc::runtime
