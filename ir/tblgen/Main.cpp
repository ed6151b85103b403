//===- Main.cpp - dlc-tblgen: writes the tables of elementwise operations ---===//
//
// Writes one section per field. A section has a line `MACRO(Class, mnemonic, value, operands)` for
// each operation that sets the field. A file that includes the tables defines the macros of the
// sections that it needs.
//
//===------------------------------------------------------------------------===//
#include "llvm/TableGen/Main.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/TableGen/Record.h"

using namespace llvm;

static int64_t countOperands(const Record &op) {
  return count_if(op.getValueAsDag("arguments")->getArgs(), [](const Init *argument) {
    auto *def = dyn_cast<DefInit>(argument);
    return def && def->getDef()->isSubClassOf("TypeConstraint");
  });
}

static void section(raw_ostream &os, StringRef macro, ArrayRef<const Record *> ops,
                    function_ref<StringRef(const Record &)> value) {
  os << "\n#ifdef " << macro << "\n";
  for (const Record *op : ops)
    if (StringRef text = value(*op); !text.empty()) {
      StringRef type = op->getName();
      type.consume_front("Dlc_");
      os << macro << "(" << type << ", " << op->getValueAsString("opName") << ", " << text << ", "
         << countOperands(*op) << ")\n";
    }
  os << "#undef " << macro << "\n#endif\n";
}

static bool writeTables(raw_ostream &os, const RecordKeeper &records) {
  os << "// From ir/dlc/td/Elementwise.td.\n";
  std::vector<const Record *> all = records.getAllDerivedDefinitions("Dlc_ElementwiseOp"),
                              functions = records.getAllDerivedDefinitions("Dlc_Function");
  auto field = [](StringRef name) {
    return [name](const Record &op) { return op.getValueAsString(name); };
  };
  section(os, "DLC_ELEMENTWISE", all, field("opName"));
  section(os, "DLC_ONNX", all, field("onnx"));
  section(os, "DLC_TRACE", all, field("trace"));
  section(os, "DLC_FUNCTION", functions, field("opName"));
  section(os, "DLC_LIBM", functions, field("libm"));
  section(os, "DLC_CUDA", functions, field("cuda"));
  return false;
}

int main(int argc, char **argv) {
  cl::ParseCommandLineOptions(argc, argv);
  return TableGenMain(argv[0], TableGenMainFn(writeTables));
}
