//===- main.cpp - the dlc tool; all that it does is in the library ----------------===//
namespace dlc {
int dlcMain(int argc, char **argv);
}

int main(int argc, char **argv) { return dlc::dlcMain(argc, argv); }
