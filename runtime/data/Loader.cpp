//===- Loader.cpp - prefetches batches with worker threads and returns them in order -===//
//
// Batches are numbered within an epoch. Worker threads take the numbers in order, up to `prefetch`
// ahead of the consumer, and store the finished batch under its number, so that the order of
// batches does not depend on the speed of the workers. All shared state is protected by one mutex;
// samples are read without holding it. Each seek starts a new round; batches that were started in
// an older round are discarded.
//
//===---------------------------------------------------------------------------===//
#include "runtime/data/Buffers.h"
#include "runtime/data/Order.h"
#include "runtime/data/Source.h"

#include "runtime/program/Message.h"

#include <condition_variable>
#include <cstring>
#include <map>
#include <thread>

namespace dlc::data {

using runtime::fail;
using runtime::message;

namespace {

/// Result of a worker thread: a batch, an error, or the end of a generator.
struct WorkerResult {
  std::shared_ptr<BatchBuffers> buffers;
  int64_t samples = 0;
  std::string error;
  bool atEnd = false;
};

/// State of an epoch that the workers share. Immutable except `stream`, which only one thread uses.
struct Epoch {
  SampleOrder order;
  int64_t share = 0;
  Generator stream;
  int64_t skip = 0; // number of generator samples to skip: those before the position of a seek
};

std::string getExceptionMessage(const std::exception_ptr &exception) {
  try {
    std::rethrow_exception(exception);
  } catch (const std::exception &error) {
    return error.what();
  } catch (...) {
    return "an exception that is not derived from std::exception";
  }
}

} // namespace

struct Loader::Impl {
  Impl(Dataset given, const LoaderOptions &o)
      : dataset(std::move(given)), options(o),
        specs(std::make_shared<const std::vector<TensorSpec>>(dataset.fields())),
        pool(std::make_shared<BufferPool>(dataset.fields(), o.batch)),
        total(isStream() ? -1 : countBatches(dataset.size(), o)) {
    for (const TensorSpec &field : dataset.fields())
      sampleBytes.push_back(Tensor::view(nullptr, field.dtype, field.shape).bytes());
  }
  ~Impl() {
    {
      std::lock_guard lock(mutex);
      stopping = true;
    }
    wake.notify_all();
    for (std::thread &thread : threads)
      thread.join();
  }

  bool isStream() const { return dataset.size() < 0; }
  void open();
  void close();
  void startThreads();
  void work();
  WorkerResult make(Epoch &epoch, uint64_t number, int64_t batch) const;
  WorkerResult makeOfStream(Epoch &epoch) const;
  Batch finish(WorkerResult &&made, Position at) const;

  const Dataset dataset;
  const LoaderOptions options;
  const std::shared_ptr<const std::vector<TensorSpec>> specs;
  const std::shared_ptr<BufferPool> pool;
  const int64_t total; // batches per epoch; -1 if unknown
  std::vector<size_t> sampleBytes;

  // Members that only the consumer's thread uses.
  Position position;
  bool fresh = true; // whether no batch was returned since the start of the epoch or a seek

  // Members that consumer and workers share, protected by the mutex.
  std::mutex mutex;
  std::condition_variable wake, ready;
  bool stopping = false;
  uint64_t round = 0;
  std::shared_ptr<Epoch> epoch; // null if no epoch is open; the workers sleep
  int64_t begun = 0;            // number of the next batch that a worker takes
  int64_t limit = 0;            // batch number from which workers must wait for the consumer
  bool ended = false;           // whether the generator has ended
  std::map<int64_t, WorkerResult> made;
  std::vector<std::thread> threads;
};

WorkerResult Loader::Impl::makeOfStream(Epoch &epoch) const {
  WorkerResult made;
  made.buffers = pool->take();
  int64_t drawn = 0;
  try {
    for (; epoch.skip > 0; --epoch.skip)
      if (!epoch.stream || !epoch.stream()) {
        made.atEnd = true;
        return made;
      }
    while (made.samples < options.batch) {
      // Distribute samples round-robin over the ranks: this rank takes one of each group of `world`
      // samples.
      std::optional<Sample> own;
      int64_t member = 0;
      for (; member < options.world; ++member) {
        std::optional<Sample> sample = epoch.stream ? epoch.stream() : std::nullopt;
        if (!sample)
          break;
        ++drawn;
        if (member == options.rank)
          own = std::move(sample);
      }
      if (member < options.world) {
        epoch.stream = nullptr; // a generator is not called again after its end
        break;
      }
      checkSample(*specs, *own);
      for (size_t f = 0; f < own->size(); ++f)
        if (sampleBytes[f])
          std::memcpy(static_cast<char *>(made.buffers->tensors[f].raw()) +
                          static_cast<size_t>(made.samples) * sampleBytes[f],
                      (*own)[f].raw(), sampleBytes[f]);
      ++made.samples;
    }
  } catch (...) {
    epoch.stream = nullptr;
    made.error = message("sample ", made.samples, " of this batch, after ", drawn,
                         " draws: ", getExceptionMessage(std::current_exception()));
    return made;
  }
  made.atEnd = made.samples == 0 || (options.dropLast && made.samples < options.batch);
  return made;
}

WorkerResult Loader::Impl::make(Epoch &epoch, uint64_t number, int64_t batch) const {
  if (isStream()) {
    WorkerResult made = makeOfStream(epoch);
    if (!made.error.empty())
      made.error = message("epoch ", number, ", batch ", batch, ", ", made.error);
    return made;
  }
  WorkerResult made;
  made.buffers = pool->take();
  int64_t first = batch * options.batch;
  made.samples = std::min(options.batch, epoch.share - first);
  std::vector<void *> to(sampleBytes.size());
  for (int64_t i = 0; i < made.samples; ++i) {
    int64_t sample = epoch.order[first + i];
    for (size_t f = 0; f < to.size(); ++f)
      to[f] = static_cast<char *>(made.buffers->tensors[f].raw()) +
              static_cast<size_t>(i) * sampleBytes[f];
    try {
      dataset.source().read(sample, to.data());
    } catch (...) {
      made.error = message("sample ", sample, " (epoch ", number, ", batch ", batch,
                           "): ", getExceptionMessage(std::current_exception()));
      return made;
    }
  }
  return made;
}

void Loader::Impl::work() {
  std::unique_lock lock(mutex);
  while (true) {
    wake.wait(lock, [&] {
      return stopping || (epoch && !ended && begun < limit && (total < 0 || begun < total));
    });
    if (stopping)
      return;
    int64_t number = begun++;
    uint64_t mine = round, which = position.epoch;
    std::shared_ptr<Epoch> current = epoch;
    lock.unlock();
    WorkerResult result;
    try {
      result = make(*current, which, number);
    } catch (...) { // for example, out of memory for the buffers
      result.error = message("epoch ", which, ", batch ", number, ": ",
                             getExceptionMessage(std::current_exception()));
    }
    // Destroy the epoch without holding the lock, because its destructor may run user code.
    current.reset();
    lock.lock();
    if (mine != round) {
      lock.unlock();
      result = {};
      lock.lock();
      continue;
    }
    ended |= result.atEnd;
    made.emplace(number, std::move(result));
    ready.notify_one();
  }
}

void Loader::Impl::startThreads() {
  // A generator is called sequentially, so one worker suffices.
  int wanted = isStream() ? std::min(options.workers, 1) : options.workers;
  while (static_cast<int>(threads.size()) < wanted)
    threads.emplace_back([this] { work(); });
}

void Loader::Impl::open() {
  auto opened = std::make_shared<Epoch>();
  if (isStream()) {
    opened->stream = dataset.source().start(position.epoch);
    opened->skip = position.batch * options.batch * options.world;
  } else {
    opened->order = SampleOrder(dataset.size(), options, position.epoch);
    opened->share = countRankSamples(dataset.size(), options);
  }
  {
    std::lock_guard lock(mutex);
    epoch = std::move(opened);
    begun = position.batch;
    limit = begun + options.prefetch;
    ended = false;
  }
  wake.notify_all();
  startThreads();
}

void Loader::Impl::close() {
  std::map<int64_t, WorkerResult> dropped;
  std::shared_ptr<Epoch> closed;
  std::lock_guard lock(mutex);
  ++round;
  dropped.swap(made);
  closed.swap(epoch);
}

Batch Loader::Impl::finish(WorkerResult &&made, Position at) const {
  Batch batch;
  batch.specs = specs;
  batch.position = at;
  for (const Tensor &whole : made.buffers->tensors) {
    std::vector<int64_t> shape = whole.shape();
    shape[0] = made.samples;
    batch.fields.push_back(Tensor::view(whole.raw(), whole.dtype(), shape, made.buffers));
  }
  return batch;
}

Loader::Loader(Dataset dataset, const LoaderOptions &o) {
  if (o.batch < 1 || o.workers < 0 || o.workers > 1024 || o.prefetch < 1)
    fail("required: a batch and a prefetch of 1 or more, and 0 to 1024 workers; found: batch ",
         o.batch, ", prefetch ", o.prefetch, ", workers ", o.workers);
  if (o.world < 1 || o.rank < 0 || o.rank >= o.world)
    fail("required: a rank from 0 to world - 1; found: rank ", o.rank, " of world ", o.world);
  if (o.shuffle && dataset.size() < 0)
    fail("the samples of a generator cannot be shuffled; required: shuffle off, or an indexed "
         "dataset");
  impl = std::make_unique<Impl>(std::move(dataset), o);
}

Loader::~Loader() = default;
Loader::Loader(Loader &&) noexcept = default;
Loader &Loader::operator=(Loader &&) noexcept = default;

std::optional<Batch> Loader::next() {
  Impl &s = *impl;
  auto endEpoch = [&] {
    s.close();
    std::lock_guard lock(s.mutex);
    s.position = {s.position.epoch + 1, 0};
    s.fresh = true;
  };
  if (s.total >= 0 && s.position.batch >= s.total) {
    endEpoch();
    return std::nullopt;
  }
  // Only the consumer's thread opens and closes epochs, so no lock is needed to test `epoch`.
  if (!s.epoch)
    s.open();
  WorkerResult made;
  if (s.options.workers == 0) {
    made = s.make(*s.epoch, s.position.epoch, s.position.batch);
  } else {
    std::unique_lock lock(s.mutex);
    auto here = [&] { return s.made.find(s.position.batch); };
    s.ready.wait(lock, [&] { return here() != s.made.end(); });
    made = std::move(s.made.extract(here()).mapped());
  }
  if (made.atEnd) {
    endEpoch();
    return std::nullopt;
  }
  Position at = s.position;
  {
    std::lock_guard lock(s.mutex);
    ++s.position.batch;
    s.fresh = false;
    s.limit = s.position.batch + s.options.prefetch;
  }
  s.wake.notify_all();
  if (!made.error.empty())
    throw Error(made.error);
  return s.finish(std::move(made), at);
}

int64_t Loader::batches() const { return impl->total; }
Position Loader::position() const { return impl->position; }
const Dataset &Loader::dataset() const { return impl->dataset; }
const LoaderOptions &Loader::options() const { return impl->options; }
size_t Loader::buffersMade() const { return impl->pool->made(); }

void Loader::seek(Position to) {
  Impl &s = *impl;
  if (to.batch < 0 || (s.total >= 0 && to.batch > s.total))
    fail("required: a batch from 0 to ", s.total,
         ", the number of batches in an epoch; found: ", to.batch);
  s.close();
  std::lock_guard lock(s.mutex);
  s.position = to;
  s.fresh = true;
}

void Loader::beginEpoch() {
  if (!impl->fresh)
    seek({impl->position.epoch + 1, 0});
}

} // namespace dlc::data
