#include "bench/jobs/store_cycle.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

#include "base/random.hpp"
#include "bench/jobs/group_writer.hpp"
#include "jobs/rotor.hpp"

namespace spillway::job_bench {

using Clock = std::chrono::steady_clock;
using std::chrono::duration;

namespace {

constexpr std::uint64_t kBatches = 8;  // of claims, before more is put in
// As src/proxy/jobs/job_dispatcher.cpp.
constexpr std::size_t kLanesAtOnce = 1024;
constexpr std::chrono::milliseconds kPagesEvery{100}, kTotalsEvery{1000};

jobs::WallTime wall_now() {
  return std::chrono::time_point_cast<std::chrono::milliseconds>(std::chrono::system_clock::now());
}

jobs::Digest random_digest(Random& random) {
  jobs::Digest digest;
  for (std::uint8_t& byte : digest) byte = static_cast<std::uint8_t>(random.next());
  return digest;
}

}  // namespace

Shop::Shop(std::string url, std::filesystem::path directory, Goods goods)
    : url_(std::move(url)), directory_(std::move(directory)), goods_(goods) {}

jobs::Lane Shop::lane(std::uint64_t n) const { return {3, "orders", TenantId{n % goods_.lanes}}; }

void Shop::open() {
  store::Opened opened = store::open_store(url_, directory_);
  if (!opened.store) throw std::runtime_error(opened.failure.text);
  store_ = std::move(opened.store);
  std::vector<store::Command> batch{store::Join{"bench", std::chrono::hours(24)}};
  execute(batch);
  epoch_ = std::get<store::Join>(batch.front()).epoch;
}

void Shop::execute(std::vector<store::Command>& batch) {
  std::vector<store::Command*> commands;
  for (store::Command& command : batch) commands.push_back(&command);
  if (const auto failure = store_->execute(commands, wall_now())) {
    throw std::runtime_error(failure->text);
  }
}

store::Command Shop::new_job(jobs::Lane lane) {
  store::Enqueue enqueue;
  jobs::NewJob& job = enqueue.job;
  Random random(made_++);
  std::array<std::uint8_t, 11> secret{};
  for (std::uint8_t& byte : secret) byte = static_cast<std::uint8_t>(random.next());
  job.accepted = wall_now();
  job.id = jobs::make_job_id(static_cast<std::uint64_t>(job.accepted.time_since_epoch().count()),
                             secret);
  job.lane = std::move(lane);
  if (goods_.have_keys) job.idempotency = {random_digest(random), random_digest(random)};
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

Figures Shop::enqueue(std::size_t outstanding, std::chrono::milliseconds time) {
  GroupWriter writer(*store_);
  std::vector<store::Command> made;
  const auto begin = Clock::now();
  while (Clock::now() - begin < time) {
    made.clear();
    for (std::size_t room = writer.await_room(outstanding); room > 0; --room) {
      made.push_back(new_job(lane(made_)));
    }
    writer.put(made);
  }
  std::vector<double> times = writer.finish();
  pending_ += times.size();
  const auto jobs = static_cast<double>(times.size());
  return figures_of(times, duration<double>(Clock::now() - begin).count(), jobs);
}

void Shop::fill(std::uint64_t pending) {
  while (pending_ < pending) {
    std::vector<store::Command> batch;
    for (std::uint64_t n = 0; n < 1000 && pending_ < pending; ++n, ++pending_) {
      batch.push_back(new_job(lane(made_)));
    }
    execute(batch);
    store_->rest();
  }
}

void Shop::add_ends(const store::Claim& claim, std::vector<store::Command>& ends) const {
  for (const jobs::LeasedJob& job : claim.jobs) {
    jobs::Progress progress = job.progress;
    progress.state = jobs::JobState::succeeded;
    progress.cause = jobs::Cause::answered;
    progress.ended = wall_now();
    store::Settle settle{epoch_, job.id, progress};
    settle.answer = jobs::StoredAnswer{200, "content-length: 2\r\n", "ok"};
    ends.push_back(std::move(settle));
  }
}

void Shop::look(std::vector<store::Command>& batch) {
  const auto now = Clock::now();
  if (now >= lanes_at_) {
    lanes_at_ = now + kPagesEvery;
    batch.push_back(store::Lanes{kLanesAtOnce, 2 * kTotalsEvery, lanes_after_});
  }
  if (now >= totals_at_) {
    totals_at_ = now + kTotalsEvery;
    batch.emplace_back(store::Totals{});
  }
}

void Shop::learn(const std::vector<store::Command>& batch) {
  for (const store::Command& command : batch) {
    if (const auto* const lanes = std::get_if<store::Lanes>(&command)) lanes_after_ = lanes->next;
  }
}

// From the next lanes, as many as the proxy asks in one batch.
std::vector<store::Command> Shop::claims(std::size_t limit) {
  const std::uint64_t lanes = lanes_at_once(limit);
  std::vector<store::Command> batch;
  for (std::uint64_t n = 0; n < lanes; ++n)
    batch.push_back(store::Claim{epoch_, lane(claimed_++), limit / lanes});
  return batch;
}

std::uint64_t Shop::lanes_at_once(std::size_t limit) const {
  return std::min<std::uint64_t>({jobs::Rotor::kMostTurns, goods_.lanes, limit});
}

Figures Shop::cycle(std::size_t limit, std::chrono::milliseconds time) {
  std::vector<double> times;
  double seconds = 0, done = 0;
  const auto begin = Clock::now();
  while (Clock::now() - begin < time) {
    const std::uint64_t lanes = kBatches * lanes_at_once(limit);
    std::vector<store::Command> more;
    for (std::size_t n = 0; n < limit * kBatches; ++n)
      more.push_back(new_job(lane(claimed_ + n % lanes)));
    execute(more);
    store_->rest();
    for (std::uint64_t n = 0; n < kBatches; ++n) {
      const auto since = Clock::now();
      std::vector<store::Command> batch = claims(limit);
      look(batch);
      execute(batch);
      learn(batch);
      std::vector<store::Command> ends;
      for (const store::Command& command : batch)
        if (const auto* const claim = std::get_if<store::Claim>(&command)) add_ends(*claim, ends);
      execute(ends);
      const double took = duration<double>(Clock::now() - since).count();
      times.push_back(took * 1000);
      seconds += took;
      done += static_cast<double>(ends.size());
    }
  }
  return figures_of(times, seconds, done);
}

double Shop::loop(std::size_t together, std::chrono::milliseconds time) {
  std::vector<store::Command> ends;
  double done = 0;
  const auto begin = Clock::now();
  while (Clock::now() - begin < time) {
    std::vector<store::Command> batch = std::move(ends);
    done += static_cast<double>(batch.size());
    const std::uint64_t which = made_ / together;
    for (std::size_t n = 0; n < together; ++n) batch.push_back(new_job(lane(which)));
    batch.push_back(store::Claim{epoch_, lane(which), together});
    execute(batch);
    ends.clear();
    add_ends(std::get<store::Claim>(batch.back()), ends);
  }
  execute(ends);
  return done / duration<double>(Clock::now() - begin).count();
}

}  // namespace spillway::job_bench
