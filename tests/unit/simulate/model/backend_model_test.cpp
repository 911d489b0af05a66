#include "simulate/model/backend_model.hpp"

#include <doctest/doctest.h>

#include <array>

namespace spillway::simulate {
namespace {

using namespace std::chrono_literals;
constexpr TimePoint kStart = TimePoint{} + 1h;

struct Job : Request {
  explicit Job(double seconds) {
    work = seconds;
    client_waits = true;
  }
};

}  // namespace

TEST_CASE("a backend works on as many as it has slots and then in the order of arrival") {
  Backend settings{.slots = 2};
  BackendModel backend(settings);
  std::array<Job, 4> requests{Job(1), Job(2), Job(3), Job(4)};
  for (Request& request : requests) backend.arrive(request);
  CHECK(backend.begin_next()->request == &requests[0]);
  CHECK(backend.begin_next()->takes == 2s);
  CHECK_FALSE(backend.begin_next().has_value());
  CHECK(backend.queued() == 2);
  CHECK(backend.queued(ClassId{0}) == 2);
  CHECK(backend.running() == 2);
  backend.finish(requests[1]);
  CHECK(backend.begin_next()->request == &requests[2]);
  CHECK_FALSE(backend.begin_next().has_value());
}

TEST_CASE("a slower backend takes longer for new requests and fewer slots serve fewer") {
  Backend settings{.slots = 4};
  BackendModel backend(settings);
  const Change slow{.speed = 0.5}, slower{.speed = 0.5, .slots = 1}, gone{.slots = 0};
  std::array<Job, 3> requests{Job(1), Job(1), Job(1)};
  backend.apply({&slow}, kStart);
  backend.arrive(requests[0]);
  CHECK(backend.begin_next()->takes == 2s);
  backend.finish(requests[0]);
  backend.apply({&slow, &slower}, kStart);
  backend.arrive(requests[1]);
  backend.arrive(requests[2]);
  CHECK(backend.begin_next()->takes == 4s);
  CHECK_FALSE(backend.begin_next().has_value());
  backend.finish(requests[1]);
  backend.apply({&gone}, kStart);
  CHECK_FALSE(backend.begin_next().has_value());
  backend.apply({}, kStart);
  CHECK(backend.begin_next()->takes == 1s);
}

TEST_CASE("above the knee service slows with all that is inside") {
  Backend settings{.slots = 4, .thrash_knee = 2, .thrash_slope = 1};
  BackendModel backend(settings);
  std::array<Job, 6> requests{Job(1), Job(1), Job(1), Job(1), Job(1), Job(1)};
  backend.arrive(requests[0]);
  CHECK(backend.begin_next()->takes == 1s);
  for (std::size_t i = 1; i < 6; ++i) backend.arrive(requests[i]);
  // Six inside, four above the knee of two.
  CHECK(backend.begin_next()->takes == 3s);
}

TEST_CASE("each server has slots and a queue and a speed of its own") {
  Backend settings{.slots = 3, .servers = {{.slots = 1}, {.slots = 2, .speed = 0.5}}};
  BackendModel backend(settings);
  CHECK(backend.servers() == 2);
  std::array<Job, 4> requests{Job(1), Job(1), Job(1), Job(1)};
  requests[2].call.server = requests[3].call.server = 1;
  for (Request& request : requests) backend.arrive(request);
  CHECK(backend.begin_next()->request == &requests[0]);
  CHECK(backend.begin_next()->takes == 2s);
  CHECK(backend.begin_next()->takes == 2s);
  CHECK_FALSE(backend.begin_next().has_value());  // the first server is full
  backend.finish(requests[2]);
  CHECK_FALSE(backend.begin_next().has_value());
  backend.finish(requests[0]);
  CHECK(backend.begin_next()->request == &requests[1]);
  backend.work_done(kStart);
  CHECK(backend.work_done(kStart + 10s).available == doctest::Approx(10 * (1 + 2 * 0.5)));
}

TEST_CASE("one server answers with errors early or refuses connections and the other does not") {
  Backend settings{.servers = {{.slots = 1}, {.slots = 1}}};
  BackendModel backend(settings);
  const Change bad{.server = 2, .error_rate = 1, .error_after = 0.25, .refused_rate = 1};
  backend.apply({&bad}, kStart);
  CHECK(backend.accepts(0));
  CHECK_FALSE(backend.accepts(1));
  std::array<Job, 2> requests{Job(1), Job(1)};
  requests[1].call.server = 1;
  for (Request& request : requests) backend.arrive(request);
  CHECK(backend.begin_next()->takes == 1s);
  CHECK(backend.begin_next()->takes == 250ms);
  CHECK_FALSE(requests[0].fails);
  CHECK(requests[1].fails);
  backend.finish(requests[0]);
  backend.finish(requests[1]);
  const WorkDone work = backend.work_done(kStart + 1s);
  CHECK(work.useful == 1);
  CHECK(work.wasted == 0.25);
}

TEST_CASE("work is useful while its client waits and available work grows with time") {
  Backend settings{.slots = 2};
  BackendModel backend(settings);
  Job useful(1), wasted(3);
  backend.work_done(kStart);
  backend.arrive(useful);
  backend.arrive(wasted);
  backend.begin_next();
  backend.begin_next();
  backend.finish(useful);
  wasted.client_waits = false;
  backend.finish(wasted);
  const Change half{.speed = 0.5};
  backend.apply({&half}, kStart + 10s);
  const WorkDone work = backend.work_done(kStart + 14s);
  CHECK(work.useful == 1);
  CHECK(work.wasted == 3);
  CHECK(work.available == doctest::Approx(2 * 10 + 2 * 0.5 * 4));
}

}  // namespace spillway::simulate
