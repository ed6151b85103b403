//===- NcclHeaderTest.cpp - compares dlc's NCCL declarations with NVIDIA's header -===//
//
// Built if NCCL's header is available.
//
//===----------------------------------------------------------------------------===//
#include "runtime/device/cuda/Nccl.h"
#include "test/runtime/device/cuda/Match.h"

#include <gtest/gtest.h>
#include <nccl.h>

#include <cstddef>

namespace ours = dlc::nccl;

using dlc::test::match;

namespace {

TEST(NcclHeader, FunctionsTakeWhatWePass) {
  const ours::Functions f{};
  EXPECT_TRUE(match(f.getVersion, &ncclGetVersion));
  EXPECT_TRUE(match(f.errorString, &ncclGetErrorString));
  EXPECT_TRUE(match(f.lastError, &ncclGetLastError));
  EXPECT_TRUE(match(f.getUniqueId, &ncclGetUniqueId));
  EXPECT_TRUE(match(f.initRank, &ncclCommInitRankConfig));
  EXPECT_TRUE(match(f.asyncError, &ncclCommGetAsyncError));
  EXPECT_TRUE(match(f.finalize, &ncclCommFinalize));
  EXPECT_TRUE(match(f.destroy, &ncclCommDestroy));
  EXPECT_TRUE(match(f.abort, &ncclCommAbort));
  EXPECT_TRUE(match(f.allReduce, &ncclAllReduce));
  EXPECT_TRUE(match(f.allGather, &ncclAllGather));
  EXPECT_TRUE(match(f.reduceScatter, &ncclReduceScatter));
  EXPECT_TRUE(match(f.broadcast, &ncclBroadcast));
}

TEST(NcclHeader, NumbersAndLayoutsAreTheSame) {
  EXPECT_EQ(int{ours::SystemError}, ncclSystemError);
  EXPECT_EQ(int{ours::InvalidUsage}, ncclInvalidUsage);
  EXPECT_EQ(int{ours::RemoteError}, ncclRemoteError);
  EXPECT_EQ(int{ours::InProgress}, ncclInProgress);
  EXPECT_EQ(int{ours::Sum}, ncclSum);
  EXPECT_EQ(int{ours::Max}, ncclMax);
  EXPECT_EQ(int{ours::Mean}, ncclAvg);
  EXPECT_EQ(int{ours::I8}, ncclInt8);
  EXPECT_EQ(int{ours::U8}, ncclUint8);
  EXPECT_EQ(int{ours::I32}, ncclInt32);
  EXPECT_EQ(int{ours::U32}, ncclUint32);
  EXPECT_EQ(int{ours::I64}, ncclInt64);
  EXPECT_EQ(int{ours::U64}, ncclUint64);
  EXPECT_EQ(int{ours::F16}, ncclFloat16);
  EXPECT_EQ(int{ours::F32}, ncclFloat32);
  EXPECT_EQ(int{ours::F64}, ncclFloat64);
  EXPECT_EQ(int{ours::Bf16}, ncclBfloat16);
  EXPECT_EQ(sizeof(ours::UniqueId), sizeof(ncclUniqueId));
  EXPECT_EQ(offsetof(ours::Config, magic), offsetof(ncclConfig_t, magic));
  EXPECT_EQ(offsetof(ours::Config, version), offsetof(ncclConfig_t, version));
  EXPECT_EQ(offsetof(ours::Config, blocking), offsetof(ncclConfig_t, blocking));
  ncclConfig_t theirs = NCCL_CONFIG_INITIALIZER;
  EXPECT_EQ(theirs.magic, ours::kConfigMagic);
  EXPECT_EQ(ours::kOldestVersion, NCCL_VERSION(2, 14, 0));
}

} // namespace
