// The end of the thread with the store while the store fails.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <variant>

#include "proxy/jobs/job_queue.hpp"
#include "store/memory_store.hpp"
#include "support/event.hpp"
#include "unit/proxy/jobs/played_store.hpp"

namespace spillway::proxy {
namespace {

using support::Event;

template <class Kind>
bool has(std::span<store::Command* const> batch) {
  return std::ranges::any_of(batch,
                             [](const auto* one) { return std::holds_alternative<Kind>(*one); });
}

// Jobs in memory, and what the test says of their store.
struct Jobs {
  const std::unique_ptr<store::JobStore> store = store::open_memory();
  std::atomic<int> failing_settles{0};  // so many of the next batches with a Settle
  std::atomic<int> leaves{0};
};

class FailingStore final : public store::JobStore {
 public:
  explicit FailingStore(Jobs& jobs) : jobs_(jobs) {}

  std::optional<store::Failure> execute(std::span<store::Command* const> batch,
                                        jobs::WallTime now) override {
    if (has<store::Settle>(batch) && jobs_.failing_settles > 0) {
      --jobs_.failing_settles;
      return store::Failure{store::Failure::Kind::full, "the test says so"};
    }
    if (has<store::Leave>(batch)) ++jobs_.leaves;
    return jobs_.store->execute(batch, now);
  }

 private:
  Jobs& jobs_;
};

// A queue with one job, which is handed over.
struct Ending {
  Ending() {
    REQUIRE_FALSE(queue.start(job_routes(generation_with(nlohmann::json::object()))));
    store::Enqueue waiting;
    waiting.job.lane = kLane;
    waiting.job.expires = jobs::WallTime{} + std::chrono::hours(1'000'000);
    waiting.max_pending = 100;
    StoreCall call{waiting};
    call.done = [&] { is_written.set(); };
    REQUIRE(queue.submit(call));
    REQUIRE(is_written.wait());
    REQUIRE(has_job.wait());
  }

  // Its state once the queue has stopped, if the store does not take its answer so often, and the
  // queue stops after the first time.
  std::string state_if_answer_fails(int times) {
    jobs.failing_settles = times;
    store::Settle answered;
    answered.epoch = epoch;
    answered.progress.state = jobs::JobState::succeeded;
    StoreCall settle{answered};
    REQUIRE(queue.submit(settle));
    REQUIRE(has_failed.wait());
    queue.stop();
    store::Command find = store::Find{};
    store::Command* const one = &find;
    REQUIRE_FALSE(jobs.store->execute({&one, 1}, jobs::WallTime{}));
    const auto& found = std::get<store::Find>(find).job;
    return found ? std::string(name(found->progress.state)) : "";
  }

  Jobs jobs;
  Event is_written, has_job, has_failed;
  std::atomic<store::Epoch> epoch{0};
  JobQueue queue{[this] {
                   return store::Opened{std::make_unique<FailingStore>(jobs), {}};
                 },
                 {[this](jobs::LeasedJob, store::Epoch under) {
                    epoch = under;
                    has_job.set();
                  },
                  [] {}},
                 [this](const store::Failure&) { has_failed.set(); },
                 "test"};
};

}  // namespace

TEST_CASE("what the store has not taken at the end is tried once more before the proxy leaves") {
  Ending end;
  CHECK(end.state_if_answer_fails(1) == "succeeded");
  CHECK(end.jobs.leaves == 1);
}

TEST_CASE("a job whose end cannot be written down is not given back as if it had not begun") {
  Ending end;
  CHECK(end.state_if_answer_fails(1000) == "leased");
  CHECK(end.jobs.leaves == 0);
}

}  // namespace spillway::proxy
