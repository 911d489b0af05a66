// Those who wait for a job to change, and a store that fails meanwhile, or that others change.
#include "proxy/deferral/job_follower.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <span>
#include <thread>

#include "proxy/jobs/job_queue.hpp"
#include "store/memory_store.hpp"
#include "support/event.hpp"
#include "unit/proxy/request/lone_process.hpp"

namespace spillway::proxy {
namespace {

using Status = Followed::Status;
using support::Event;

jobs::JobId id_of(std::uint8_t number) {
  jobs::JobId id;
  id.bytes[0] = number;
  return id;
}

struct Weather {
  std::atomic<bool> fails_looks{false};
  std::atomic<bool> is_shared{false};
  std::atomic<int> looks{0};
  std::atomic<bool> recovers{false};  // the next Sweep says so of job 1
};

// A memory store that counts looks, and fails them as it is told.
class Looked final : public store::JobStore {
 public:
  explicit Looked(Weather& weather) : weather_(weather), inner_(store::open_memory()) {}

  std::optional<store::Failure> execute(std::span<store::Command* const> batch,
                                        jobs::WallTime now) override {
    for (const store::Command* const command : batch) {
      if (!std::holds_alternative<store::Find>(*command)) continue;
      ++weather_.looks;
      if (weather_.fails_looks)
        return store::Failure{store::Failure::Kind::unavailable, "the test says so"};
    }
    auto failure = inner_->execute(batch, now);
    for (store::Command* const command : batch) {
      auto* const sweep = std::get_if<store::Sweep>(command);
      if (sweep != nullptr && weather_.recovers.exchange(false))
        sweep->recovered.push_back(id_of(1));
    }
    return failure;
  }
  bool is_shared() const override { return weather_.is_shared; }

 private:
  Weather& weather_;
  std::unique_ptr<store::JobStore> inner_;
};

JobRoutes some_routes() {
  ReadConfiguration read =
      resolve_servers(support::checked(support::configuration({"127.0.0.1:1"})));
  const ProcessContext process{.workers = {std::make_shared<observe::WorkerGauges>()}};
  return job_routes(
      std::make_shared<Generation>(*std::move(read.config), std::move(read.endpoints), process));
}

struct Asked {
  explicit Asked(store::Command command) : call(std::move(command)) {}

  Event over;
  StoreCall call;
};

// Job 1 waits, and is followed.
struct Scene {
  explicit Scene(bool is_shared = false)
      : queue(
            [this] {
              return store::Opened{std::make_unique<Looked>(weather), {}};
            },
            {[](jobs::LeasedJob, store::Epoch) {}, [] {}}, [](const store::Failure&) {}, "test") {
    weather.is_shared = is_shared;
    REQUIRE_FALSE(queue.start(some_routes()));
    process.services.jobs = &queue;
    store::Enqueue enqueue;
    enqueue.job.id = id_of(1);
    enqueue.job.lane.route = "gone";  // so that nothing pulls it
    enqueue.job.expires = jobs::WallTime{} + std::chrono::hours(1'000'000);
    enqueue.max_pending = 10;
    ask(enqueue);
  }
  ~Scene() {
    if (parking.watches_client()) parking.wake(Wake::client_gone);
    runs_until([&] { return !parking.parked(); });
  }

  void ask(store::Command command) {
    const auto asked = std::make_shared<Asked>(std::move(command));
    asked->call.done = [asked] { asked->over.set(); };
    const support::Deadline deadline;
    while (!queue.submit(asked->call)) REQUIRE_FALSE(deadline.passed());
    REQUIRE(asked->over.wait());
    REQUIRE_FALSE(asked->call.failure);
  }
  void follow(std::uint8_t number, Duration time) {
    const jobs::Progress known;
    [](Scene& scene, jobs::JobId id, jobs::Progress now, TimePoint until) -> Detached {
      Followed followed = co_await proxy::follow(scene.process.services, scene.parking, id, now,
                                                 until, scene.at_limit);
      scene.ended = std::move(followed);
    }(*this, id_of(number), known, process.services.now() + time);
  }
  // As a worker does, until `condition`.
  template <class Condition>
  bool runs_until(const Condition& condition) {
    const support::Deadline deadline;
    while (!condition() && !deadline.passed()) {
      process.loop.begin_event();
      process.loop.poll();
      if (parking.parked() && parking.deadline() <= Clock::now()) parking.wake(Wake::timeout);
    }
    return condition();
  }
  bool ends_as(Status status) {
    return runs_until([&] { return ended.has_value(); }) && ended->status == status;
  }
  bool waits_after(int looks) {
    return runs_until([&] { return weather.looks >= looks && parking.watches_client(); });
  }

  Weather weather;
  Process process;
  JobQueue queue;
  Parking parking;
  std::optional<Followed> ended;
  AtConnectionLimit at_limit = AtConnectionLimit::stays;
};

store::Command cancel() {
  return store::Cancel{
      .id = id_of(1), .cause = jobs::Cause::cancelled_by_client, .was = {}, .is_done = false};
}

}  // namespace

TEST_CASE("who follows a job is told of its change, and at once that there is no such job") {
  Scene scene;
  scene.follow(1, std::chrono::hours(1));
  REQUIRE(scene.waits_after(1));
  scene.ask(cancel());
  REQUIRE(scene.ends_as(Status::changed));
  CHECK(scene.ended->job->progress.state == jobs::JobState::cancelled);
  scene.ended.reset();
  scene.follow(2, std::chrono::hours(1));
  CHECK(scene.ends_as(Status::forgotten));
}

TEST_CASE("a look that fails is made again until the store answers") {
  Scene scene;
  scene.weather.fails_looks = true;
  scene.follow(1, std::chrono::hours(1));
  REQUIRE(scene.waits_after(1));
  CHECK_FALSE(scene.ended);
  scene.weather.fails_looks = false;
  scene.ask(cancel());
  REQUIRE(scene.ends_as(Status::changed));
  CHECK(scene.ended->job->progress.state == jobs::JobState::cancelled);
}

TEST_CASE("after a failure of the store those who follow look again, since it may have done it") {
  Scene scene;
  scene.follow(1, std::chrono::hours(1));
  REQUIRE(scene.waits_after(1));
  scene.weather.fails_looks = true;
  const auto asked = std::make_shared<Asked>(store::Find{.id = id_of(1), .job = std::nullopt});
  asked->call.done = [asked] { asked->over.set(); };
  REQUIRE(scene.queue.submit(asked->call));
  REQUIRE(asked->over.wait());
  scene.weather.fails_looks = false;
  CHECK(scene.waits_after(3));
  CHECK_FALSE(scene.ended);
}

TEST_CASE("a job that is recovered is looked at, without a change of its own it goes on") {
  Scene scene;
  scene.follow(1, std::chrono::hours(1));
  REQUIRE(scene.waits_after(1));
  scene.weather.recovers = true;
  CHECK(scene.waits_after(2));
  CHECK_FALSE(scene.ended);
}

TEST_CASE("only a store that others share is asked again and again") {
  for (const bool is_shared : {false, true}) {
    Scene scene(is_shared);
    scene.follow(1, Milliseconds(1900));
    REQUIRE(scene.ends_as(Status::unchanged));
    CHECK(scene.weather.looks == (is_shared ? 2 : 1));
  }
}

TEST_CASE("who follows a job goes when the client does, and when the proxy drains") {
  Scene scene;
  scene.follow(1, std::chrono::hours(1));
  REQUIRE(scene.waits_after(1));
  CHECK(scene.parking.deadline() <= Clock::now() + std::chrono::seconds(1));
  scene.process.services.draining = true;
  CHECK(scene.ends_as(Status::unchanged));
  scene.process.services.draining = false;
  scene.ended.reset();
  scene.follow(1, std::chrono::hours(1));
  REQUIRE(scene.waits_after(2));
  scene.parking.wake(Wake::client_gone);
  CHECK(scene.ends_as(Status::client_gone));
}

TEST_CASE("at the connection limit a wait for a job gives way, and an event stream stays") {
  for (const AtConnectionLimit at_limit :
       {AtConnectionLimit::gives_way, AtConnectionLimit::stays}) {
    CAPTURE(static_cast<int>(at_limit));
    Scene scene;
    scene.at_limit = at_limit;
    scene.follow(1, std::chrono::hours(1));
    REQUIRE(scene.waits_after(1));
    scene.process.owner.is_full = true;
    scene.parking.wake(Wake::timeout);
    if (at_limit == AtConnectionLimit::gives_way) {
      CHECK(scene.ends_as(Status::unchanged));
    } else {
      CHECK(scene.waits_after(1));
      CHECK_FALSE(scene.ended);
    }
  }
}

}  // namespace spillway::proxy
