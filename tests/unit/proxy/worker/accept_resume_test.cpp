#include "proxy/worker/accept_resume.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <thread>

namespace spillway::proxy {

TEST_CASE("the first connection that closes resumes a waiting listener and later ones do not") {
  AcceptResume resume;
  int resumed = 0;
  resume.on_connection_closed([&] { ++resumed; });
  resume.connection_closed(false);
  CHECK(resumed == 0);
  resume.wait(1);
  resume.connection_closed(false);
  resume.connection_closed(false);
  CHECK(resumed == 1);
  CHECK_FALSE(resume.stop_waiting());
  resume.wait(1);
  CHECK(resume.stop_waiting());
  resume.connection_closed(false);
  CHECK(resumed == 1);
}

TEST_CASE("as many connections are promised to end as clients wait to be accepted") {
  AcceptResume resume;
  resume.on_connection_closed([] {});
  CHECK_FALSE(resume.needs_room());
  CHECK_FALSE(resume.promise_place());
  resume.wait(2);
  CHECK(resume.promise_place());
  CHECK(resume.needs_room());
  CHECK(resume.promise_place());
  CHECK_FALSE(resume.needs_room());
  CHECK_FALSE(resume.promise_place());

  // Until the listener counts anew, a newcomer whose place is free is no reason for one more.
  resume.connection_closed(true);
  CHECK_FALSE(resume.promise_place());
  resume.wait(1);  // the other one, which is promised a place
  CHECK_FALSE(resume.promise_place());
  resume.withdraw_promise();
  CHECK(resume.promise_place());
  resume.wait(5);
  resume.connection_closed(false);  // by itself
  for (int n = 0; n < 4; ++n) CHECK(resume.promise_place());
  CHECK_FALSE(resume.promise_place());
  resume.none_waits();
  for (int n = 0; n < 5; ++n) resume.connection_closed(true);
  resume.wait(1);
  CHECK(resume.promise_place());
}

// One connection at a time, so a lost wake-up would wait for ever.
TEST_CASE("a connection that closes while connections are counted is seen by one of both threads") {
  constexpr int kConnections = 2'000;
  AcceptResume resume;
  std::atomic<int> open{0};
  std::atomic<int> woken{0};
  resume.on_connection_closed([&] { woken.fetch_add(1); });
  std::thread worker([&] {
    for (int ended = 0; ended < kConnections;) {
      if (open.load() == 0) {
        std::this_thread::yield();
        continue;
      }
      open.fetch_sub(1);
      resume.connection_closed(false);
      ++ended;
    }
  });
  int by_itself = 0;
  for (int n = 0; n < kConnections; ++n) {
    const int before = woken.load();
    open.fetch_add(1);
    resume.wait(1);
    if (open.load() == 0 && resume.stop_waiting()) {
      ++by_itself;
    } else {
      while (woken.load() == before) std::this_thread::yield();
    }
  }
  worker.join();
  CHECK(by_itself + woken.load() == kConnections);
}

}  // namespace spillway::proxy
