//===- main.cpp - the conformance program; all that it does is in the library -----===//
namespace dlc {
int conformanceMain(int argc, char **argv);
}

int main(int argc, char **argv) { return dlc::conformanceMain(argc, argv); }
