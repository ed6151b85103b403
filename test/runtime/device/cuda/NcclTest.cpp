//===- NcclTest.cpp - NCCL groups of ranks, each with its own GPU ----------------===//
//
// Ranks are threads. With a real GPU the group has one rank.
//
//===---------------------------------------------------------------------------===//
#include "dlc/DType.h"
#include "test/runtime/device/cuda/Gpu.h"

#include <barrier>
#include <chrono>
#include <functional>
#include <regex>
#include <thread>

using namespace dlc::cuda::test;
using dlc::DType;

namespace {

using Floats = std::vector<float>;

/// One rank of a group.
class Rank {
public:
  Rank(int number, int ranks, const void *invitation) : number(number), ranks(ranks) {
    char error[1024] = "";
    if (table().open(ranks == 1 ? 0 : number, &device, error, sizeof error) != 0)
      ADD_FAILURE() << error;
    ok(table().stream_create, device, &stream);
    ok(table().group_join, device, invitation, number, ranks, &group);
  }
  ~Rank() {
    if (group)
      table().group_leave(device, group);
    table().stream_destroy(device, stream);
    for (void *address : memory)
      table().release(device, address);
    table().close(device);
  }
  Rank(const Rank &) = delete;

  /// Waits until the group is formed and its last collective is in the stream. Returns the error,
  /// or "".
  std::string ready() const {
    char error[1024] = "";
    for (int busy = 1; busy;) {
      if (table().group_test(device, group, &busy, error, sizeof error) != 0)
        return error;
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
    return "";
  }

  template <typename T> T *put(const std::vector<T> &values) {
    void *address = nullptr;
    ok(table().allocate, device, uint64_t(values.size() * sizeof(T)), &address);
    memory.push_back(address);
    ok(table().copy, device, stream, address, static_cast<const void *>(values.data()),
       uint64_t(values.size() * sizeof(T)), int(DLC_COPY_HOST_TO_DEVICE),
       static_cast<void *>(nullptr));
    ok(table().stream_synchronize, device, stream);
    return static_cast<T *>(address);
  }
  template <typename T> std::vector<T> get(const T *from, size_t count) const {
    std::vector<T> values(count);
    ok(table().copy, device, stream, static_cast<void *>(values.data()),
       static_cast<const void *>(from), uint64_t(count * sizeof(T)), int(DLC_COPY_DEVICE_TO_HOST),
       static_cast<void *>(nullptr));
    ok(table().stream_synchronize, device, stream);
    return values;
  }

  std::string run(const dlc_engine_call &call) const {
    char error[1024] = "";
    return table().group_run(device, group, stream, &call, error, sizeof error) != 0 ? error
                                                                                     : ready();
  }
  void abort() const { table().group_abort(device, group); }

  const int number, ranks;
  void *device = nullptr, *stream = nullptr, *group = nullptr;

private:
  std::vector<void *> memory;
};

/// Runs the body on all ranks, which are threads.
void together(int ranks, const std::function<void(Rank &)> &body) {
  char error[1024] = "", invitation[DLC_DEVICE_INVITATION];
  void *first = nullptr;
  ASSERT_EQ(table().open(0, &first, error, sizeof error), 0) << error;
  ok(table().group_invite, first, static_cast<void *>(invitation));
  std::vector<std::thread> threads;
  for (int number = 0; number < ranks; ++number)
    threads.emplace_back([&, number] {
      Rank rank(number, ranks, invitation);
      body(rank);
    });
  for (std::thread &thread : threads)
    thread.join();
  table().close(first);
}

dlc_engine_call call(int collective, const void *from, void *to, uint64_t share,
                     DType type = DType::F32, int reduction = DLC_REDUCE_SUM, int root = 0) {
  return {collective, reduction, static_cast<int32_t>(type), root, from, to, share};
}

template <typename T> T smallest(Rank &rank, DType type, int reduction, T here, T there) {
  std::vector<T> values{rank.number == 0 ? here : there};
  T *x = rank.put(values);
  EXPECT_EQ(rank.run(call(DLC_COLLECTIVE_ALL_REDUCE, x, x, 1, type, reduction)), "");
  return rank.get(x, 1)[0];
}

class Nccl : public testing::Test {
protected:
  void SetUp() override {
    char error[1024] = "";
    void *device = nullptr;
    dlc_device_member member;
    if (table().open(0, &device, error, sizeof error) != 0 ||
        table().group_member(device, &member, error, sizeof error) != 0)
      GTEST_SKIP() << error;
    table().close(device);
  }
};
/// Groups of two ranks with one GPU each.
class NcclOfTwo : public Nccl {
protected:
  void SetUp() override {
    char error[1024];
    if (table().count(error, sizeof error) < 2)
      GTEST_SKIP() << "two GPUs are needed";
    Nccl::SetUp();
  }
};

TEST_F(Nccl, SaysWhoTheRankIs) {
  char error[1024] = "";
  void *device = nullptr;
  ASSERT_EQ(table().open(0, &device, error, sizeof error), 0) << error;
  dlc_device_member member;
  ok(table().group_member, device, &member);
  EXPECT_EQ(std::string(member.carrier).substr(0, 7), "NCCL 2.");
  // PCI domain, bus, device and function.
  EXPECT_TRUE(std::regex_match(
      member.device, std::regex("[0-9a-fA-F]{4,8}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\\.[0-7]")))
      << member.device;
  if (emulated())
    EXPECT_STREQ(member.carrier, "NCCL 2.28.9");
  table().close(device);
}

TEST_F(Nccl, AGroupOfOneKeepsWhatItHas) {
  together(1, [](Rank &rank) {
    ASSERT_EQ(rank.ready(), "");
    const Floats values = iota(1000, 1);
    float *x = rank.put(values), *y = rank.put(Floats(1000));
    for (int collective : {DLC_COLLECTIVE_ALL_REDUCE, DLC_COLLECTIVE_ALL_GATHER,
                           DLC_COLLECTIVE_REDUCE_SCATTER, DLC_COLLECTIVE_BROADCAST}) {
      ok(table().fill, rank.device, rank.stream, static_cast<void *>(y), uint8_t(0),
         uint64_t(4000));
      ASSERT_EQ(rank.run(call(collective, x, y, 1000)), "") << collective;
      EXPECT_EQ(rank.get(y, 1000), values) << collective;
    }
    ASSERT_EQ(rank.run(call(DLC_COLLECTIVE_ALL_REDUCE, x, x, 1000, DType::F32, DLC_REDUCE_MEAN)),
              "");
    EXPECT_EQ(rank.get(x, 1000), values);
  });
}

TEST_F(NcclOfTwo, EachCollective) {
  together(2, [](Rank &rank) {
    ASSERT_EQ(rank.ready(), "");
    const Floats mine = iota(4, float(10 * rank.number));
    float *x = rank.put(mine), *y = rank.put(Floats(8));
    ASSERT_EQ(rank.run(call(DLC_COLLECTIVE_ALL_REDUCE, x, y, 4)), "");
    EXPECT_EQ(rank.get(y, 4), (Floats{10, 12, 14, 16}));
    ASSERT_EQ(rank.run(call(DLC_COLLECTIVE_ALL_REDUCE, x, y, 4, DType::F32, DLC_REDUCE_MEAN)), "");
    EXPECT_EQ(rank.get(y, 4), (Floats{5, 6, 7, 8}));
    ASSERT_EQ(rank.run(call(DLC_COLLECTIVE_ALL_REDUCE, x, y, 4, DType::F32, DLC_REDUCE_MAX)), "");
    EXPECT_EQ(rank.get(y, 4), (Floats{10, 11, 12, 13}));
    ASSERT_EQ(rank.run(call(DLC_COLLECTIVE_ALL_GATHER, x, y, 4)), "");
    EXPECT_EQ(rank.get(y, 8), (Floats{0, 1, 2, 3, 10, 11, 12, 13}));
    ASSERT_EQ(rank.run(call(DLC_COLLECTIVE_REDUCE_SCATTER, x, y, 2)), "");
    EXPECT_EQ(rank.get(y, 2), rank.number == 0 ? (Floats{10, 12}) : (Floats{14, 16}));
    ASSERT_EQ(rank.run(call(DLC_COLLECTIVE_BROADCAST, x, x, 4, DType::F32, DLC_REDUCE_SUM, 1)), "");
    EXPECT_EQ(rank.get(x, 4), iota(4, 10));
  });
}

TEST_F(NcclOfTwo, EachType) {
  together(2, [](Rank &rank) {
    ASSERT_EQ(rank.ready(), "");
    EXPECT_EQ(smallest<double>(rank, DType::F64, DLC_REDUCE_MEAN, 1, 2), 1.5);
    EXPECT_EQ(smallest<int8_t>(rank, DType::I8, DLC_REDUCE_SUM, -3, 2), -1);
    EXPECT_EQ(smallest<uint8_t>(rank, DType::U8, DLC_REDUCE_MAX, 200, 7), 200);
    EXPECT_EQ(smallest<int32_t>(rank, DType::I32, DLC_REDUCE_MAX, -3, -2), -2);
    EXPECT_EQ(smallest<uint32_t>(rank, DType::U32, DLC_REDUCE_SUM, 1, 2), 3u);
    EXPECT_EQ(smallest<int64_t>(rank, DType::I64, DLC_REDUCE_SUM, int64_t(1) << 40, 1),
              (int64_t(1) << 40) + 1);
    EXPECT_EQ(smallest<uint64_t>(rank, DType::U64, DLC_REDUCE_SUM, 5, 6), 11u);
    // f16 1 and 2 with sum 3, bf16 1 and 2 with mean 1.5.
    EXPECT_EQ(smallest<uint16_t>(rank, DType::F16, DLC_REDUCE_SUM, 0x3c00, 0x4000), 0x4200);
    EXPECT_EQ(smallest<uint16_t>(rank, DType::BF16, DLC_REDUCE_MEAN, 0x3f80, 0x4000), 0x3fc0);
    EXPECT_EQ(smallest<uint8_t>(rank, DType::Bool, DLC_REDUCE_SUM, 1, 1), 1);
    // Collectives without a reduction accept any type.
    uint16_t *x = rank.put(std::vector<uint16_t>{uint16_t(rank.number + 7)});
    EXPECT_NE(rank.run(call(DLC_COLLECTIVE_ALL_REDUCE, x, x, 1, DType::I16))
                  .find("NCCL does not support reductions of i16; convert the tensor to i32"),
              std::string::npos);
    EXPECT_EQ(rank.run(call(DLC_COLLECTIVE_BROADCAST, x, x, 1, DType::I16)), "");
    EXPECT_EQ(rank.get(x, 1)[0], 7);
  });
}

TEST_F(NcclOfTwo, StreamsOrderThem) {
  if (!emulated())
    GTEST_SKIP() << "streams of a real GPU are as late as they like";
  configure("order", "late");
  together(2, [](Rank &rank) {
    ASSERT_EQ(rank.ready(), "");
    for (bool waits : {true, false}) {
      float *x = rank.put(Floats{1});
      const Floats later{float(10 + rank.number)};
      void *copies = nullptr, *copied = nullptr;
      ok(table().stream_create, rank.device, &copies);
      ok(table().event_create, rank.device, &copied);
      ok(table().copy, rank.device, copies, static_cast<void *>(x),
         static_cast<const void *>(later.data()), uint64_t(4), int(DLC_COPY_HOST_TO_DEVICE),
         static_cast<void *>(nullptr));
      ok(table().event_record, rank.device, copied, copies);
      if (waits)
        ok(table().event_wait, rank.device, rank.stream, copied);
      EXPECT_EQ(rank.run(call(DLC_COLLECTIVE_ALL_REDUCE, x, x, 1)), "");
      EXPECT_EQ(rank.get(x, 1)[0], waits ? 21 : 2);
      table().event_destroy(rank.device, copied);
      table().stream_destroy(rank.device, copies);
    }
  });
}

TEST_F(NcclOfTwo, ARankThatNeverComesIsNotWaitedForAfterAnAbort) {
  std::barrier formed(2);
  together(2, [&](Rank &rank) {
    EXPECT_EQ(rank.ready(), "");
    formed.arrive_and_wait();
    if (rank.number == 1) {
      // This rank leaves without giving a reason.
      rank.abort();
      return;
    }
    float *x = rank.put(Floats{1});
    std::string why = rank.run(call(DLC_COLLECTIVE_ALL_REDUCE, x, x, 1));
    for (int tries = 0; why.empty() && tries < 100000; ++tries)
      why = rank.ready();
    EXPECT_NE(why.find("remote process exited"), std::string::npos) << why;
    EXPECT_NE(why.find("another rank has failed"), std::string::npos) << why;
    std::thread watch([&] { rank.abort(); });
    ok(table().stream_synchronize, rank.device, rank.stream);
    watch.join();
  });
}

TEST_F(Nccl, MemoryThatIsNotTheDevicesIsSaid) {
  if (!emulated())
    GTEST_SKIP() << "a real GPU is lost by it";
  together(1, [](Rank &rank) {
    ASSERT_EQ(rank.ready(), "");
    float *x = rank.put(Floats(4));
    rank.run(call(DLC_COLLECTIVE_ALL_REDUCE, x + (1 << 20), x, 4));
    ok(table().stream_synchronize, rank.device, rank.stream);
    EXPECT_NE(rank.ready().find("a collective's operand is no memory of the device"),
              std::string::npos);
  });
}

TEST_F(NcclOfTwo, RanksThatDoDifferentThingsAreTold) {
  if (!emulated())
    GTEST_SKIP() << "real GPUs wait for ever";
  std::barrier both(2);
  together(2, [&](Rank &rank) {
    EXPECT_EQ(rank.ready(), "");
    float *x = rank.put(Floats(4));
    rank.run(call(DLC_COLLECTIVE_ALL_REDUCE, x, x, uint64_t(rank.number) + 1));
    ok(table().stream_synchronize, rank.device, rank.stream);
    EXPECT_NE(rank.ready().find("do different things in collective 0"), std::string::npos);
    // The other rank would report an earlier abort instead of its own error.
    both.arrive_and_wait();
    rank.abort();
  });
}

int memberProbe() {
  char error[4096] = "";
  void *device = nullptr;
  dlc_device_member member;
  if (table().open(0, &device, error, sizeof error) != 0 ||
      table().group_member(device, &member, error, sizeof error) != 0)
    std::printf("%s\n", error);
  return 0;
}
const Mode kProbe("--member", memberProbe);

std::string memberOf(const std::string &variables) { return probe(variables, "--member"); }

TEST(NcclMissing, SaysWhatMends) {
  std::string missing = memberOf("DLC_CUDA_NCCL=/none/libnccl.so.2");
  for (const char *part : {"collectives are not available on cuda:0: libnccl: missing",
                           "pip install nvidia-nccl-cu13", "/none/libnccl.so.2: no such file"})
    EXPECT_NE(missing.find(part), std::string::npos) << missing;
  if (!emulated())
    return;
  std::string old = memberOf("DLC_EMULATED_NCCL=21303");
  EXPECT_NE(old.find("is NCCL 2.13.3; NCCL 2.14.0 or later is required"), std::string::npos) << old;
}

} // namespace
