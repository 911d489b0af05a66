#include "bench/jobs/store_cycle.hpp"

#include <algorithm>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <thread>

#include "base/random.hpp"

namespace spillway::bench {

using Clock = std::chrono::steady_clock;
using std::chrono::duration;

namespace {

constexpr std::uint64_t kLanes = 8;
constexpr std::size_t kMostJobs = 256;  // of a batch; 1 MiB is never reached with 1 KiB each

jobs::WallTime wall_now() {
  return std::chrono::time_point_cast<std::chrono::milliseconds>(std::chrono::system_clock::now());
}

Figures figures(std::vector<double>& ms, double seconds, double jobs) {
  std::sort(ms.begin(), ms.end());
  if (ms.empty()) return {};
  return {jobs / seconds, ms[ms.size() / 2], ms[ms.size() * 99 / 100]};
}

jobs::Lane lane(std::uint64_t n) { return {3, "orders", TenantId{n % kLanes}}; }

}  // namespace

Shop::Shop(std::string url, std::filesystem::path directory)
    : url_(std::move(url)), directory_(std::move(directory)) {}

void Shop::open() {
  store::Opened opened = store::open_store(url_, directory_);
  if (!opened.store) {
    std::fprintf(stderr, "%s\n", opened.failure.text.c_str());
    std::exit(1);
  }
  store_ = std::move(opened.store);
  std::vector<store::Command> batch{store::Join{"bench", std::chrono::hours(24)}};
  execute(batch);
  epoch_ = std::get<store::Join>(batch.front()).epoch;
}

void Shop::execute(std::vector<store::Command>& batch) {
  std::vector<store::Command*> commands;
  for (store::Command& command : batch) commands.push_back(&command);
  if (const auto failure = store_->execute(commands, wall_now())) {
    std::fprintf(stderr, "%s\n", failure->text.c_str());
    std::exit(1);
  }
}

store::Command Shop::new_job() {
  store::Enqueue enqueue;
  jobs::NewJob& job = enqueue.job;
  const std::uint64_t n = made_++;
  Random random(n);
  std::array<std::uint8_t, 11> secret{};
  for (std::uint8_t& byte : secret) byte = static_cast<std::uint8_t>(random.next());
  job.accepted = wall_now();
  job.id = jobs::make_job_id(static_cast<std::uint64_t>(job.accepted.time_since_epoch().count()),
                             secret);
  job.lane = lane(n);
  job.tenant_name = "tenant";
  job.expires = job.accepted + std::chrono::hours(24);
  job.kept = std::chrono::hours(24);
  job.head = std::string(200, 'h');
  job.body = std::string(824, 'b');
  job.method = "POST";
  job.target = "/orders/new";
  enqueue.max_pending = 1ULL << 40;
  return enqueue;
}

// The writer is a thread of its own, as in the proxy; the clients' thread hands it new jobs as soon
// as earlier ones are acknowledged.
Figures Shop::enqueue(std::size_t outstanding, std::chrono::seconds time) {
  struct Waiting {
    store::Command command;
    Clock::time_point since;
  };
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<Waiting> waiting;
  std::vector<double> times;
  std::size_t acknowledged = 0;
  bool is_over = false;
  std::thread writer([&] {
    std::vector<Waiting> batch;
    std::vector<store::Command*> commands;
    for (;;) {
      batch.clear();
      commands.clear();
      {
        std::unique_lock lock(mutex);
        if (waiting.empty()) {
          lock.unlock();
          store_->rest();
          lock.lock();
        }
        changed.wait(lock, [&] { return is_over || !waiting.empty(); });
        if (waiting.empty()) return;
        while (!waiting.empty() && batch.size() < kMostJobs) {
          batch.push_back(std::move(waiting.front()));
          waiting.pop_front();
        }
      }
      for (Waiting& one : batch) commands.push_back(&one.command);
      if (const auto failure = store_->execute(commands, wall_now())) {
        std::fprintf(stderr, "%s\n", failure->text.c_str());
        std::exit(1);
      }
      const auto now = Clock::now();
      const std::lock_guard lock(mutex);
      for (const Waiting& one : batch) {
        times.push_back(duration<double, std::milli>(now - one.since).count());
      }
      acknowledged += batch.size();
      changed.notify_all();
    }
  });
  const auto begin = Clock::now();
  std::size_t sent = 0;
  std::vector<store::Command> made;
  while (Clock::now() - begin < time) {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return sent - acknowledged < outstanding; });
    const std::size_t room = outstanding - (sent - acknowledged);
    lock.unlock();
    made.clear();
    for (std::size_t n = 0; n < room; ++n) made.push_back(new_job());
    lock.lock();
    for (store::Command& command : made) waiting.push_back({std::move(command), Clock::now()});
    sent += room;
    changed.notify_all();
  }
  {
    const std::lock_guard lock(mutex);
    is_over = true;
  }
  changed.notify_all();
  writer.join();
  pending_ += sent;
  return figures(times, duration<double>(Clock::now() - begin).count(), static_cast<double>(sent));
}

void Shop::fill(std::uint64_t pending) {
  while (pending_ < pending) {
    std::vector<store::Command> batch;
    for (std::uint64_t n = 0; n < 1000 && pending_ < pending; ++n, ++pending_) {
      batch.push_back(new_job());
    }
    execute(batch);
    store_->rest();
  }
}

std::vector<store::Command> Shop::ends_of(const store::Claim& claim) const {
  std::vector<store::Command> ends;
  for (const jobs::LeasedJob& job : claim.jobs) {
    jobs::Progress progress = job.progress;
    progress.state = jobs::JobState::succeeded;
    progress.cause = jobs::Cause::answered;
    progress.ended = wall_now();
    store::Settle settle{epoch_, job.id, progress};
    settle.answer = jobs::StoredAnswer{200, "content-length: 2\r\n", "ok"};
    ends.push_back(std::move(settle));
  }
  return ends;
}

Figures Shop::cycle(std::size_t limit, std::chrono::seconds time) {
  std::vector<double> times;
  double seconds = 0, done = 0;
  const auto begin = Clock::now();
  while (Clock::now() - begin < time) {
    std::vector<store::Command> more;  // one for each of the next lane's
    for (std::size_t n = 0; n < limit * kLanes; ++n) more.push_back(new_job());
    execute(more);
    store_->rest();
    for (std::uint64_t n = 0; n < kLanes; ++n) {
      const auto since = Clock::now();
      std::vector<store::Command> batch{store::Claim{epoch_, lane(claimed_++), limit}};
      execute(batch);
      std::vector<store::Command> ends = ends_of(std::get<store::Claim>(batch.front()));
      execute(ends);
      const double took = duration<double>(Clock::now() - since).count();
      times.push_back(took * 1000);
      seconds += took;
      done += static_cast<double>(ends.size());
    }
  }
  return figures(times, seconds, done);
}

double Shop::loop(std::size_t together, std::chrono::seconds time) {
  std::vector<store::Command> ends;
  double done = 0;
  const auto begin = Clock::now();
  while (Clock::now() - begin < time) {
    std::vector<store::Command> batch = std::move(ends);
    done += static_cast<double>(batch.size());
    const std::uint64_t which = made_ / together % kLanes;
    for (std::size_t n = 0; n < together; ++n) {
      batch.push_back(new_job());
      std::get<store::Enqueue>(batch.back()).job.lane = lane(which);
    }
    batch.push_back(store::Claim{epoch_, lane(which), together});
    execute(batch);
    ends = ends_of(std::get<store::Claim>(batch.back()));
  }
  execute(ends);
  return done / duration<double>(Clock::now() - begin).count();
}

}  // namespace spillway::bench
