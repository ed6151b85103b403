//===- main.cpp - entry point of the dlc tool; the implementation is in the library -----------===//
namespace dlc {
int dlcMain(int argc, char **argv);
}

int main(int argc, char **argv) { return dlc::dlcMain(argc, argv); }
