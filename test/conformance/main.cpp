//===- main.cpp - main function of the conformance program (see Driver.cpp) -------===//
namespace dlc {
int conformanceMain(int argc, char **argv);
}

int main(int argc, char **argv) { return dlc::conformanceMain(argc, argv); }
