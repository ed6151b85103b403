//===- CApiTest.cpp - the C API and its C++ wrapper ---------------------------===//
#include "Sample.h"

#include "dlc/dlc.hpp"
#include "runtime/program/Writer.h"
#include "runtime/session/capi/Handles.h"

#include <array>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace dlc::test;

namespace {

dlc_session *makeSession(int64_t n) {
  dlc_program *program = dlc::runtime::wrapProgram(share(affineProgram(n)));
  dlc_session *session = nullptr;
  dlc_error *error = dlc_session_create(program, nullptr, &session);
  EXPECT_EQ(error, nullptr) << dlc_error_message(error);
  dlc_program_destroy(program);
  return session;
}

std::string messageOf(dlc_error *error) {
  std::string text = dlc_error_message(error);
  dlc_error_free(error);
  return text;
}

DLTensor floats(std::vector<float> &data, std::vector<int64_t> &shape) {
  return {data.data(),
          {kDLCPU, 0},
          static_cast<int32_t>(shape.size()),
          {kDLFloat, 32, 1},
          shape.data(),
          nullptr,
          0};
}

} // namespace

TEST(CApi, LoadRunAndQuery) {
  TemporaryFolder folder;
  dlc::runtime::writeProgram(affineProgram(8), folder / "p.dlcx");
  dlc_program *program = nullptr;
  ASSERT_EQ(dlc_program_load((folder / "p.dlcx").c_str(), &program), nullptr);
  EXPECT_EQ(dlc_program_input_count(program), 1u);
  dlc_tensor_info info;
  ASSERT_EQ(dlc_program_output(program, 0, &info), nullptr);
  EXPECT_STREQ(info.name, "y");
  EXPECT_EQ(info.shape[0], 8);
  EXPECT_EQ(info.bytes, 32u);
  EXPECT_NE(messageOf(dlc_program_input(program, 1, &info)).find("does not exist"),
            std::string::npos);
  dlc_session *session = nullptr;
  dlc_session_options options = {1};
  ASSERT_EQ(dlc_session_create(program, &options, &session), nullptr);
  dlc_program_destroy(program);
  std::vector<float> x(8, 3), y(8);
  std::vector<int64_t> shape = {8};
  DLTensor in = floats(x, shape), out = floats(y, shape);
  ASSERT_EQ(dlc_session_run(session, &in, 1, &out, 1), nullptr);
  EXPECT_EQ(y[7], 7.5f);
  dlc_memory_figures figures;
  dlc_session_memory(session, &figures);
  EXPECT_EQ(figures.arena_bytes, 32u);
  dlc_session_destroy(session);
}

TEST(CApi, StridedInputsAndOffsets) {
  dlc_session *session = makeSession(4);
  std::vector<float> x = {9, 0, 9, 1, 9, 2, 9, 3}, y(4);
  std::vector<int64_t> shape = {4}, strides = {2};
  DLTensor in = floats(x, shape), out = floats(y, shape);
  in.strides = strides.data();
  in.byte_offset = 4;
  ASSERT_EQ(dlc_session_run(session, &in, 1, &out, 1), nullptr);
  EXPECT_EQ(y, (std::vector<float>{1.5, 3.5, 5.5, 7.5}));
  out.strides = strides.data();
  EXPECT_NE(messageOf(dlc_session_run(session, &in, 1, &out, 1)).find("compact"),
            std::string::npos);
  dlc_session_destroy(session);
}

TEST(CApi, WrongTensors) {
  dlc_session *session = makeSession(4);
  std::vector<float> x(4), y(4);
  std::vector<int64_t> shape = {4}, other = {2, 2};
  DLTensor out = floats(y, shape);
  DLTensor in = floats(x, other);
  std::string error = messageOf(dlc_session_run(session, &in, 1, &out, 1));
  EXPECT_NE(error.find("input 'x' must have shape [4]; found: [2, 2]"), std::string::npos) << error;
  in = floats(x, shape);
  in.dtype = {kDLInt, 32, 1};
  error = messageOf(dlc_session_run(session, &in, 1, &out, 1));
  EXPECT_NE(error.find("must be of type f32; found: i32"), std::string::npos) << error;
  in = floats(x, shape);
  in.device = {kDLCUDA, 0};
  EXPECT_NE(messageOf(dlc_session_run(session, &in, 1, &out, 1)), "");
  in.device = {kDLCPU, 0};
  EXPECT_NE(messageOf(dlc_session_run(session, &in, 1, &out, 0)), "");
  EXPECT_NE(messageOf(dlc_session_run(session, &in, 0, &out, 1)), "");
  dlc_session_destroy(session);
}

/// Rows of packed 4-bit integers begin at byte boundaries.
TEST(CApi, PackedIntegers) {
  Program copy = emptyProgram();
  copy.manifest["inputs"] = {tensor("x", "i4", {2, 3})};
  copy.manifest["outputs"] = {tensor("y", "i4", {2, 3})};
  copy.manifest["buffers"] = {buffer("input", 0, 4), buffer("output", 0, 4)};
  copy.manifest["commands"] = {{{"op", "copy"}, {"from", 0}, {"to", 1}, {"bytes", 4}}};
  dlc_program *program = dlc::runtime::wrapProgram(share(copy));
  dlc_tensor_info info;
  ASSERT_EQ(dlc_program_input(program, 0, &info), nullptr);
  EXPECT_EQ(info.dtype.code, kDLInt);
  EXPECT_EQ(info.dtype.bits, 4);
  EXPECT_EQ(info.bytes, 4u);
  dlc_session *session = nullptr;
  ASSERT_EQ(dlc_session_create(program, nullptr, &session), nullptr);
  std::vector<uint8_t> x = {0x8f, 0x07, 0x21, 0x0e};
  std::vector<int64_t> shape = {2, 3}, strides = {4, 1}, apart = {3, 1};
  DLTensor in = {x.data(), {kDLCPU, 0}, 2, {kDLInt, 4, 1}, shape.data(), strides.data(), 0};
  DLManagedTensor *out = nullptr;
  ASSERT_EQ(dlc_session_run_alloc(session, &in, 1, &out, 1), nullptr);
  EXPECT_EQ(out->dl_tensor.dtype.bits, 4);
  EXPECT_EQ(std::memcmp(out->dl_tensor.data, x.data(), x.size()), 0);
  out->deleter(out);
  in.strides = apart.data();
  std::string error = messageOf(dlc_session_run_alloc(session, &in, 1, &out, 1));
  EXPECT_NE(error.find("give a contiguous tensor"), std::string::npos) << error;
  in.dtype = {kDLUInt, 4, 1};
  error = messageOf(dlc_session_run_alloc(session, &in, 1, &out, 1));
  EXPECT_NE(error.find("must be of type i4; found: u4"), std::string::npos) << error;
  dlc_session_destroy(session);
  dlc::Session face(program);
  dlc::Tensor given = dlc::Tensor::view(x.data(), dlc::DType::I4, shape);
  dlc::Tensor y = face.run({{"x", given}}).at("y").to(dlc::DType::I8);
  EXPECT_EQ(std::vector<int8_t>(y.data<int8_t>(), y.data<int8_t>() + 6),
            (std::vector<int8_t>{-1, -8, 7, 1, 2, -2}));
}

TEST(CApi, AllocatedOutputsOutliveTheSession) {
  dlc_session *session = makeSession(4);
  std::vector<float> x(4, 1);
  std::vector<int64_t> shape = {4};
  DLTensor in = floats(x, shape);
  DLManagedTensor *out = nullptr;
  ASSERT_EQ(dlc_session_run_alloc(session, &in, 1, &out, 1), nullptr);
  dlc_session_destroy(session);
  EXPECT_EQ(static_cast<float *>(out->dl_tensor.data)[3], 3.5f);
  EXPECT_EQ(out->dl_tensor.shape[0], 4);
  out->deleter(out);
}

TEST(CApi, SizesThatTheRunFinds) {
  dlc_program *program = dlc::runtime::wrapProgram(share(countedProgram(4)));
  int32_t dimension = 7;
  size_t counter = 7;
  EXPECT_EQ(dlc_program_output_counter(program, 1, &dimension, &counter), 0);
  EXPECT_EQ(dlc_program_output_counter(program, 2, &dimension, &counter), 0);
  ASSERT_EQ(dlc_program_output_counter(program, 0, &dimension, &counter), 1);
  EXPECT_EQ(dimension, 0);
  EXPECT_EQ(counter, 1u);
  dlc_session *session = nullptr;
  ASSERT_EQ(dlc_session_create(program, nullptr, &session), nullptr);
  std::vector<float> x = {1, 2, 3, 4};
  std::vector<int64_t> shape = {4};
  // A size above the capacity is limited to the capacity.
  for (int64_t n : {3, 0, 9}) {
    DLTensor in[2] = {floats(x, shape), floats(x, shape)};
    in[1].data = &n;
    in[1].ndim = 0;
    in[1].dtype = {kDLInt, 64, 1};
    DLManagedTensor *out[2] = {};
    ASSERT_EQ(dlc_session_run_alloc(session, in, 2, out, 2), nullptr);
    EXPECT_EQ(out[0]->dl_tensor.shape[0], std::min<int64_t>(n, 4));
    EXPECT_EQ(static_cast<float *>(out[0]->dl_tensor.data)[2], 7.5f);
    EXPECT_EQ(*static_cast<int64_t *>(out[1]->dl_tensor.data), n);
    for (DLManagedTensor *tensor : out)
      tensor->deleter(tensor);
  }
  dlc_session_destroy(session);
  dlc::Session face(program);
  ASSERT_EQ(face.outputs().size(), 1u);
  EXPECT_EQ(face.outputs()[0].shape, shape);
  EXPECT_EQ(face.outputs()[0].foundDimension, 0);
  auto results =
      face.run({{"x", dlc::Tensor::of({4}, x)}, {"n", dlc::Tensor::of<int64_t>({}, {2})}});
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results.at("y").shape(), (std::vector<int64_t>{2}));
  EXPECT_EQ(results.at("y").data<float>()[1], 5.5f);
  results = face.run({{"x", dlc::Tensor::of({4}, x)}, {"n", dlc::Tensor::of<int64_t>({}, {9})}});
  EXPECT_EQ(results.at("y").shape(), shape);
}

/// Forks while other threads run sessions. The child has none of these threads and gets their locks
/// in whatever state they were. Parent and child share the program.
TEST(CApi, AForkedProcessMakesSessionsOfItsOwn) {
  constexpr int64_t n = 1 << 16;
  dlc_program *program = dlc::runtime::wrapProgram(share(affineProgram(n)));
  dlc_session_options options = {2, nullptr};
  auto runOnce = [&](dlc_session *session) {
    std::vector<float> x(n, 3), y(n);
    std::vector<int64_t> shape = {n};
    DLTensor in = floats(x, shape), out = floats(y, shape);
    return dlc_session_run(session, &in, 1, &out, 1) == nullptr && y[n - 1] == 7.5f;
  };
  dlc_session *session = nullptr;
  ASSERT_EQ(dlc_session_create(program, &options, &session), nullptr);
  std::atomic<bool> stop = false;
  std::thread other([&] {
    while (!stop)
      runOnce(session);
  });
  EXPECT_TRUE(runOnce(session));
  for (int i = 0; i < 5; ++i) {
    pid_t child = fork();
    if (child == 0) {
      alarm(20); // ends the child if it hangs
      dlc_session *own = nullptr;
      bool good = dlc_session_create(program, &options, &own) == nullptr && runOnce(own);
      dlc_session_destroy(own);
      _exit(good ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  stop = true;
  other.join();
  dlc_session_destroy(session);
  dlc_program_destroy(program);
}

TEST(CApi, ErrorsForWrongFiles) {
  dlc_program *program = nullptr;
  EXPECT_NE(messageOf(dlc_program_load("/no/such", &program)).find("/no/such"), std::string::npos);
  EXPECT_EQ(program, nullptr);
  EXPECT_NE(messageOf(dlc_program_load(nullptr, &program)), "");
  EXPECT_NE(messageOf(dlc_program_load_memory("abc", 3, &program)), "");
}

TEST(Cpp, LoadAndRun) {
  TemporaryFolder folder;
  dlc::runtime::writeProgram(affineProgram(3), folder / "p.dlcx");
  auto session = dlc::Session::load(folder / "p.dlcx", {.threads = 1});
  EXPECT_EQ(session.inputs()[0].name, "x");
  auto x = dlc::Tensor::of<float>({3}, {1, 2, 3});
  dlc::Tensor y = session.run({{"x", x}})["y"];
  EXPECT_EQ(y.data<float>()[2], 7.5f);
  EXPECT_THROW(session.run({}), dlc::Error);
  EXPECT_THROW(session.run({{"x", x}, {"z", x}}), dlc::Error);
  EXPECT_THROW(session.run({{"x", dlc::Tensor(dlc::DType::F32, {4})}}), dlc::Error);
  EXPECT_THROW(dlc::Session::load("/no/such"), dlc::Error);
}

TEST(C, WholeProgram) {
  TemporaryFolder folder;
  dlc::runtime::writeProgram(affineProgram(3), folder / "p.dlcx");
  std::string command = std::string(DLC_RUN_C) + " " + folder / "p.dlcx";
  FILE *pipe = popen(command.c_str(), "r");
  ASSERT_NE(pipe, nullptr);
  std::array<char, 64> line{};
  EXPECT_NE(fgets(line.data(), line.size(), pipe), nullptr);
  EXPECT_EQ(pclose(pipe), 0);
  EXPECT_STREQ(line.data(), "3.5\n");
}
