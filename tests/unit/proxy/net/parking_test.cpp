#include "proxy/net/parking.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "proxy/net/task.hpp"

namespace spillway::proxy {
namespace {

Task<int> twice(Parking& parking, int number) {
  const Wake wake = co_await parking.park({});
  co_return wake == Wake::ready ? 2 * number : -1;
}

Task<> note(Parking& parking, std::vector<std::string>& log) {
  log.push_back("begin");
  const int doubled = co_await twice(parking, 21);
  log.push_back(std::to_string(doubled));
}

Detached run(Parking& parking, std::vector<std::string>& log) {
  co_await note(parking, log);
  log.push_back("end");
}

Detached park_once(Parking& parking, TimePoint deadline, Source* first, Source* second,
                   std::vector<Wake>& woken) {
  const Wake wake = co_await parking.park({deadline}, first, second);
  woken.push_back(wake);
}

}  // namespace

TEST_CASE("tasks hand their results up the chain when the parked one is woken") {
  Parking parking;
  std::vector<std::string> log;
  run(parking, log);
  CHECK(log == std::vector<std::string>{"begin"});
  CHECK(parking.parked());
  parking.wake(Wake::ready);
  CHECK(!parking.parked());
  CHECK(log == std::vector<std::string>{"begin", "42", "end"});
}

TEST_CASE("a task that was never awaited frees its frame") {
  Parking parking;
  { const Task<int> never = twice(parking, 1); }
  CHECK(!parking.parked());
}

TEST_CASE("a coroutine parked on two sources is found at either and at none after its waking") {
  Parking parking;
  Source in, out;
  std::vector<Wake> woken;
  const TimePoint deadline{Milliseconds{5}};
  park_once(parking, deadline, &in, &out, woken);
  CHECK(in.parked == &parking);
  CHECK(out.parked == &parking);
  CHECK(parking.deadline() == deadline);

  out.parked->wake(Wake::timeout);
  CHECK(woken == std::vector{Wake::timeout});
  CHECK(in.parked == nullptr);
  CHECK(out.parked == nullptr);
  CHECK(parking.deadline() == kNever);
}

TEST_CASE("frames of coroutines are used again") {
#ifndef SPILLWAY_ADDRESS_SANITIZER  // there each frame is really freed
  const auto place_of_frame = [&] {
    void* frame = FramePool::allocate(500);
    FramePool::deallocate(frame, 500);
    return frame;
  };
  void* const before = place_of_frame();
  CHECK(place_of_frame() == before);
  // Sizes of one step share their frames, others do not.
  void* const taken = FramePool::allocate(510);
  CHECK(taken == before);
  void* const larger = FramePool::allocate(520);
  CHECK(larger != before);
  FramePool::deallocate(larger, 520);
  FramePool::deallocate(taken, 510);
#endif
}

}  // namespace spillway::proxy
