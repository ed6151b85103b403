//===- Writer.cpp - writes a Program to a .dlcx file -------------------------===//
#include "runtime/program/Writer.h"

#include "runtime/program/AtomicFile.h"
#include "runtime/program/Checker.h"
#include "runtime/program/Format.h"
#include "runtime/program/Message.h"

#include <cstring>

namespace dlc::runtime {

using namespace format;

/// Sets the offsets of the constants in the manifest and returns the size of the constants section.
static uint64_t assignConstantOffsets(const Program &program, nlohmann::json &manifest) {
  uint64_t end = 0;
  for (size_t i = 0; i < program.constants.size(); ++i) {
    end = alignUp(end, kConstantAlignment);
    manifest["constants"][i]["offset"] = end;
    end += program.constants[i].bytes;
  }
  return end;
}

/// Returns the hash of the constants section. The section is assembled in memory for this, which is
/// done for small sections only.
static uint64_t hashConstants(const Program &program, const nlohmann::json &manifest,
                              uint64_t bytes) {
  std::vector<uint8_t> section(bytes);
  for (size_t i = 0; i < program.constants.size(); ++i)
    if (const Span &constant = program.constants[i]; constant.bytes)
      std::memcpy(section.data() + manifest["constants"][i]["offset"].get<uint64_t>(),
                  constant.data, constant.bytes);
  return hashBytes(section.data(), section.size());
}

void writeProgram(const Program &program, const std::string &path) {
  checkProgram(program);
  nlohmann::json manifest = program.manifest;
  uint64_t constantBytes = assignConstantOffsets(program, manifest);
  std::string text;
  try {
    text = manifest.dump();
  } catch (const nlohmann::json::exception &error) {
    fail("cannot write '", path, "': the manifest cannot be serialized: ", error.what());
  }

  std::vector<Section> table;
  auto add = [&](SectionKind kind, uint64_t bytes, uint64_t hash, bool hashed) {
    table.push_back({kind, hashed ? uint32_t(Hashed) : 0, 0, bytes, hashed ? hash : 0});
  };
  add(Manifest, text.size(), hashBytes(text.data(), text.size()), true);
  if (!program.ir.empty())
    add(Ir, program.ir.size(), hashBytes(program.ir.data(), program.ir.size()), true);
  if (program.code.bytes)
    add(Code, program.code.bytes, hashBytes(program.code.data, program.code.bytes), true);
  if (constantBytes) {
    bool hashed = constantBytes <= kHashedConstants;
    add(Constants, constantBytes, hashed ? hashConstants(program, manifest, constantBytes) : 0,
        hashed);
  }

  uint64_t end = sizeof(Header) + table.size() * sizeof(Section);
  for (Section &section : table) {
    bool paged = section.kind == Constants || section.kind == Code;
    section.offset = alignUp(end, paged ? kPage : 8);
    end = section.offset + section.bytes;
  }

  Header header{};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.version = kVersion;
  header.sectionCount = static_cast<uint32_t>(table.size());
  header.fileBytes = end;
  header.tableHash =
      hashBytes(table.data(), table.size() * sizeof(Section), hashBytes(&header, sizeof header));

  AtomicFile file(path);
  file.write(&header, sizeof header);
  file.write(table.data(), table.size() * sizeof(Section));
  for (const Section &section : table) {
    file.padTo(section.offset);
    switch (section.kind) {
    case Manifest:
      file.write(text.data(), text.size());
      break;
    case Ir:
      file.write(program.ir.data(), program.ir.size());
      break;
    case Code:
      file.write(program.code.data, program.code.bytes);
      break;
    case Constants:
      for (size_t i = 0; i < program.constants.size(); ++i) {
        file.padTo(section.offset + manifest["constants"][i]["offset"].get<uint64_t>());
        file.write(program.constants[i].data, program.constants[i].bytes);
      }
      break;
    }
  }
  file.commit();
}

} // namespace dlc::runtime
