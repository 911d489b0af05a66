#include "proxy/worker/accept_resume.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <thread>

namespace spillway::proxy {

TEST_CASE("the first connection that closes resumes a waiting listener and later ones do not") {
  AcceptResume resume;
  int resumed = 0;
  resume.on_connection_closed([&] { ++resumed; });
  resume.connection_closed();
  CHECK(resumed == 0);
  resume.wait();
  resume.connection_closed();
  resume.connection_closed();
  CHECK(resumed == 1);
  CHECK_FALSE(resume.stop_waiting());
  resume.wait();
  CHECK(resume.stop_waiting());
  resume.connection_closed();
  CHECK(resumed == 1);
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
      resume.connection_closed();
      ++ended;
    }
  });
  int by_itself = 0;
  for (int n = 0; n < kConnections; ++n) {
    const int before = woken.load();
    open.fetch_add(1);
    resume.wait();
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
