//===- Main.cpp - the dlc-opt tool; all that it does is in the library ------------===//
namespace dlc {
int dlcOptMain(int argc, char **argv);
}

int main(int argc, char **argv) { return dlc::dlcOptMain(argc, argv); }
