//===- Flatten.cpp - converts a relocatable ELF object to one flat image ---===//
#include "codegen/cpu/target/Native.h"

#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MemoryBuffer.h"

namespace dlc::cpu {

namespace {
using namespace llvm;

/// Links one relocatable object. Sections are placed one after the other in a flat image.
class FlatLinker {
public:
  FlatLinker(const object::ObjectFile &file, std::string &error) : file(file), error(error) {}

  std::optional<MachineCode> run(StringRef entry) {
    if (!placeSections() || !relocateSections())
      return std::nullopt;
    for (const object::SymbolRef &symbol : file.symbols()) {
      auto name = symbol.getName();
      if (!name || *name != entry)
        continue;
      if (auto address = addressOf(symbol)) {
        code.entry = *address;
        return std::move(code);
      }
    }
    fail("generated object does not define '" + entry + "'");
    return std::nullopt;
  }

private:
  bool fail(const Twine &message) {
    error = message.str();
    return false;
  }

  /// Copies the sections that are loaded at run time into the image.
  bool placeSections() {
    for (const object::SectionRef &section : file.sections()) {
      uint64_t flags = object::ELFSectionRef(section).getFlags();
      if (!(flags & ELF::SHF_ALLOC) || section.getSize() == 0)
        continue;
      if (flags & (ELF::SHF_WRITE | ELF::SHF_TLS) || section.isBSS())
        return fail(
            "the generated object code has a writable section; report this as a bug of dlc");
      auto name = section.getName();
      if (name && (*name == ".eh_frame" || name->starts_with(".note")))
        continue;
      auto contents = section.getContents();
      if (!contents)
        return fail(toString(contents.takeError()));
      uint64_t align = section.getAlignment().value();
      code.bytes.resize((code.bytes.size() + align - 1) / align * align, '\0');
      placed[section.getIndex()] = code.bytes.size();
      code.bytes.append(contents->begin(), contents->end());
    }
    return true;
  }

  /// Returns the offset of a symbol in the image. Returns nothing if the image does not contain it.
  std::optional<uint64_t> addressOf(object::SymbolRef symbol) {
    auto section = symbol.getSection();
    auto value = symbol.getValue();
    if (!section || !value || *section == file.section_end()) {
      if (!section)
        consumeError(section.takeError());
      if (!value)
        consumeError(value.takeError());
      return std::nullopt;
    }
    auto at = placed.find((*section)->getIndex());
    if (at == placed.end())
      return std::nullopt;
    return at->second + *value;
  }

  bool relocateSections() {
    for (const object::SectionRef &section : file.sections()) {
      auto target = section.getRelocatedSection();
      if (!target)
        return fail(toString(target.takeError()));
      if (*target == file.section_end() || !placed.count((*target)->getIndex()))
        continue;
      uint64_t base = placed[(*target)->getIndex()];
      for (const object::RelocationRef &relocation : section.relocations())
        if (!applyRelocation(relocation, base))
          return false;
    }
    return true;
  }

  /// Applies a relocation in the section at the offset `base` of the image.
  bool applyRelocation(const object::RelocationRef &relocation, uint64_t base) {
    auto symbol = relocation.getSymbol();
    std::optional<uint64_t> address;
    if (symbol != file.symbol_end())
      address = addressOf(*symbol);
    if (!address) {
      std::string name = "?";
      if (symbol != file.symbol_end())
        if (auto n = symbol->getName())
          name = n->str();
      return fail("generated code refers to the external symbol '" + name + "'");
    }
    auto addend = object::ELFRelocationRef(relocation).getAddend();
    if (!addend)
      return fail(toString(addend.takeError()));
    uint64_t type = relocation.getType(), where = base + relocation.getOffset();
    int64_t value = int64_t(*address) + *addend - int64_t(where);
    if (type == ELF::R_X86_64_PC32 || type == ELF::R_X86_64_PLT32)
      support::endian::write32le(code.bytes.data() + where, uint32_t(value));
    else if (type == ELF::R_X86_64_PC64)
      support::endian::write64le(code.bytes.data() + where, uint64_t(value));
    else
      return fail("the generated object code has an unsupported relocation of type " + Twine(type) +
                  "; report this as a bug of dlc");
    return true;
  }

  const object::ObjectFile &file;
  std::string &error;
  MachineCode code;
  /// Offset of each section in the image, by section index.
  DenseMap<uint64_t, uint64_t> placed;
};

} // namespace

std::optional<MachineCode> linkToFlatImage(llvm::StringRef object, llvm::StringRef entry,
                                           std::string &error) {
  auto file = llvm::object::ObjectFile::createELFObjectFile(MemoryBufferRef(object, "kernel"));
  if (!file) {
    error = "generated object: " + toString(file.takeError());
    return std::nullopt;
  }
  return FlatLinker(**file, error).run(entry);
}

} // namespace dlc::cpu
