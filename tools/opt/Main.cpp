//===- Main.cpp - entry point of dlc-opt; the implementation is in the library ----------------===//
namespace dlc {
int dlcOptMain(int argc, char **argv);
}

int main(int argc, char **argv) { return dlc::dlcOptMain(argc, argv); }
