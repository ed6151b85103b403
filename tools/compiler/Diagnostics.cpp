//===- Diagnostics.cpp - collects MLIR diagnostics as text ----------------===//
#include "tools/compiler/Diagnostics.h"

#include "mlir/IR/Location.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/raw_ostream.h"

#include <thread>

using namespace mlir;

namespace dlc {

std::string locationText(Location location) {
  return llvm::TypeSwitch<Location, std::string>(location)
      .Case([](FileLineColLoc at) {
        // Binary files have no lines.
        if (at.getLine() == 0)
          return at.getFilename().str();
        return at.getFilename().str() + ":" + std::to_string(at.getLine()) + ":" +
               std::to_string(at.getColumn());
      })
      .Case([](NameLoc named) {
        std::string child = locationText(named.getChildLoc());
        return child.empty() ? "'" + named.getName().str() + "'"
                             : child + ": '" + named.getName().str() + "'";
      })
      .Case([](CallSiteLoc call) {
        std::string callee = locationText(call.getCallee()),
                    caller = locationText(call.getCaller());
        return callee.empty() || caller.empty() ? callee + caller
                                                : callee + " (called from " + caller + ")";
      })
      .Case([](FusedLoc fused) {
        std::string text;
        for (Location part : fused.getLocations()) {
          std::string one = locationText(part);
          if (!one.empty() && text.find(one) == std::string::npos)
            text += (text.empty() ? "" : ", ") + one;
        }
        return text;
      })
      .Default([](Location) { return std::string(); });
}

static void appendDiagnostic(std::string &text, const Diagnostic &diagnostic, const char *indent) {
  if (!text.empty())
    text += "\n";
  std::string where = locationText(diagnostic.getLocation());
  text += indent;
  if (!where.empty())
    text += where + ": ";
  text += diagnostic.str();
}

DiagnosticCollector::DiagnosticCollector(MLIRContext &context)
    : handler(&context, [this, own = std::this_thread::get_id()](Diagnostic &diagnostic) {
        // Ignores diagnostics of other threads, which belong to the collectors of those threads'
        // compilations. MLIR calls all handlers of a context, one at a time, from the thread that
        // emits the diagnostic.
        if (std::this_thread::get_id() != own)
          return failure();
        if (diagnostic.getSeverity() == DiagnosticSeverity::Error) {
          appendDiagnostic(text, diagnostic, "");
          for (Diagnostic &note : diagnostic.getNotes())
            if (note.str().find("see current operation") == std::string::npos)
              appendDiagnostic(text, note, "  ");
        } else {
          std::string line;
          appendDiagnostic(line, diagnostic, "dlc: ");
          llvm::errs() << line << "\n";
        }
        return LogicalResult(success());
      }) {}

std::string DiagnosticCollector::take(const std::string &otherwise) {
  std::string taken = text.empty() ? otherwise : text;
  text.clear();
  return taken;
}

} // namespace dlc
