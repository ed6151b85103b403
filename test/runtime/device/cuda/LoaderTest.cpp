//===- LoaderTest.cpp - search for NVIDIA's libraries, and compilation with NVRTC ===//
#include "runtime/device/cuda/Loader.h"
#include "runtime/device/cuda/Nvrtc.h"
#include "test/runtime/device/cuda/Gpu.h"

#include <cstdlib>
#include <filesystem>

using namespace dlc::cuda;
namespace fs = std::filesystem;

namespace {

/// Sets an environment variable for the lifetime of the object.
class Variable {
public:
  Variable(const char *name, const std::string &value) : name(name) {
    if (const char *now = std::getenv(name))
      before = now;
    else
      was = false;
    setenv(name, value.c_str(), 1);
  }
  ~Variable() { was ? setenv(name, before.c_str(), 1) : unsetenv(name); }

private:
  const char *name;
  bool was = true;
  std::string before;
};

TEST(Loader, NamesTheFileInItsVariableAndNothingElse) {
  Variable missing("DLC_CUDA_NCCL", "/none/libnccl.so.2");
  LoadedLibrary found = findLibrary(Library::Nccl);
  EXPECT_FALSE(found);
  ASSERT_EQ(found.tried.size(), 1u);
  EXPECT_EQ(found.tried[0].file, "/none/libnccl.so.2");
  EXPECT_EQ(found.tried[0].reason, "no such file");
  std::string text = formatLibraryStatus(found);
  for (const char *part : {"libnccl: missing (optional", "pip install nvidia-nccl",
                           "$DLC_CUDA_PATH", "/none/libnccl.so.2: no such file"})
    EXPECT_NE(text.find(part), std::string::npos) << text;
  EXPECT_EQ(found.symbol("ncclGetVersion"), nullptr);
}

TEST(Loader, LooksIntoTheFoldersNamed) {
  fs::path folder = fs::temp_directory_path() / ("dlc-loader-" + std::to_string(getpid()));
  fs::create_directories(folder / "empty");
  fs::create_directories(folder / "full");
  // Any shared library serves as the file to be found.
  fs::copy_file(DLC_EMULATED_GPU_FILE, folder / "full" / "libnccl.so.2",
                fs::copy_options::overwrite_existing);
  {
    Variable wherever("DLC_CUDA_NCCL", "");
    Variable path("DLC_CUDA_PATH", (folder / "empty").string() + ":" + (folder / "full").string());
    LoadedLibrary found = findLibrary(Library::Nccl);
    EXPECT_TRUE(found);
    EXPECT_EQ(found.path, (folder / "full" / "libnccl.so.2").string());
    ASSERT_EQ(found.tried.size(), 1u);
    EXPECT_EQ(found.tried[0].file, (folder / "empty" / "libnccl.so.2").string());
    EXPECT_EQ(formatLibraryStatus(found), "libnccl: found at " + found.path);
  }
  fs::remove_all(folder);
}

TEST(Loader, LooksIntoPythonsPackages) {
  fs::path folder = fs::temp_directory_path() / ("dlc-venv-" + std::to_string(getpid()));
  fs::path packages = folder / "lib/python3.99/site-packages/nvidia/nccl/lib";
  fs::create_directories(packages);
  fs::copy_file(DLC_EMULATED_GPU_FILE, packages / "libnccl.so.2",
                fs::copy_options::overwrite_existing);
  {
    Variable wherever("DLC_CUDA_NCCL", "");
    Variable environment("VIRTUAL_ENV", folder.string());
    LoadedLibrary found = findLibrary(Library::Nccl);
    EXPECT_TRUE(found);
    // A library that the system's loader finds by name takes precedence.
    if (found && found.path.find("/nvidia/") != std::string::npos) {
      EXPECT_EQ(found.path, (packages / "libnccl.so.2").string());
    }
  }
  fs::remove_all(folder);
}

TEST(Loader, ReportsEachLibrary) {
  std::string text = formatLibraryReport();
  for (const char *name : {"libcuda: ", "libnvrtc: ", "libnccl: "})
    EXPECT_NE(text.find(name), std::string::npos) << text;
}

TEST(Nvrtc, ReadsTheAssemblersReport) {
  auto kernels = parseResources(
      "ptxas info    : 0 bytes gmem\n"
      "ptxas info    : Compiling entry function 'bar' for 'sm_90a'\n"
      "ptxas info    : Function properties for bar\n"
      "ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
      "ptxas info    : Used 8 registers, used 0 barriers\n"
      "ptxas info    : Compiling entry function 'foo' for 'sm_90a'\n"
      "ptxas         .     800 bytes stack frame, 12 bytes spill stores, 16 bytes spill loads\n"
      "ptxas info    : Used 40 registers, used 1 barriers, 800 bytes cumulative stack size, 1024 "
      "bytes smem\n");
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(kernels[0].name, "bar");
  EXPECT_EQ(kernels[0].registers, 8);
  EXPECT_EQ(kernels[0].sharedBytes, 0);
  EXPECT_EQ(kernels[1].name, "foo");
  EXPECT_EQ(kernels[1].stackBytes, 800);
  EXPECT_EQ(kernels[1].spillStoreBytes, 12);
  EXPECT_EQ(kernels[1].spillLoadBytes, 16);
  EXPECT_EQ(kernels[1].registers, 40);
  EXPECT_EQ(kernels[1].sharedBytes, 1024);
}

/// Runs with the emulator's NVRTC or with NVIDIA's.
TEST(Nvrtc, CompilesAndSaysWhatIsWrong) {
  std::string why;
  ASSERT_NE(nvrtcVersion(&why), "") << why;
  NvrtcResult good = compileCuda("extern \"C\" __global__ void k(float *y) { y[threadIdx.x] = 1; }",
                                 "good.cu", "sm_90a");
  EXPECT_EQ(good.error, "");
  EXPECT_GT(good.cubin.size(), 500u);
  ASSERT_EQ(good.kernels.size(), 1u);
  EXPECT_EQ(good.kernels[0].name, "k");
  EXPECT_GT(good.kernels[0].registers, 0);
  NvrtcResult bad = compileCuda(
      "#line 100 \"model.py\"\nextern \"C\" __global__ void k() { wrong; }", "bad.cu", "sm_90a");
  EXPECT_TRUE(bad.cubin.empty());
  for (const char *part :
       {"bad.cu does not compile for sm_90a", "NVRTC_ERROR_COMPILATION", "model.py", "wrong"})
    EXPECT_NE(bad.error.find(part), std::string::npos) << bad.error;
  NvrtcResult unknown = compileCuda("extern \"C\" __global__ void k() {}", "k.cu", "gpu9");
  EXPECT_NE(unknown.error.find("NVRTC_ERROR_INVALID_OPTION"), std::string::npos) << unknown.error;
}

} // namespace
