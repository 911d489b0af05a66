#include "proxy/net/mailbox.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <deque>
#include <thread>
#include <vector>

#include "proxy/net/task.hpp"

namespace spillway::proxy {
namespace {

// A coroutine that waits for its letter and then records its number.
Detached wait_for(Letter& letter, Parking& parking, int number, std::vector<int>& resumed) {
  while (!letter.delivered) co_await parking.park({});
  resumed.push_back(number);
}

struct Waiting {
  Waiting(Mailbox& mailbox, int number, std::vector<int>& resumed) {
    letter.mailbox = &mailbox;
    letter.parking = &parking;
    wait_for(letter, parking, number, resumed);
  }
  Letter letter;
  Parking parking;
};

}  // namespace

TEST_CASE("letters are delivered on the owner's loop in the order of delivery") {
  EventLoop loop;
  Mailbox mailbox(loop);
  std::vector<int> resumed;
  std::deque<Waiting> waiting;
  for (int n = 0; n < 5; ++n) waiting.emplace_back(mailbox, n, resumed);
  for (Waiting& each : waiting) mailbox.deliver(each.letter);
  CHECK(resumed.empty());
  loop.poll();
  CHECK(resumed == std::vector{0, 1, 2, 3, 4});
}

TEST_CASE("a letter delivered while others are being resumed is resumed too") {
  EventLoop loop;
  Mailbox mailbox(loop);
  std::vector<int> resumed;
  Waiting second(mailbox, 2, resumed);
  Letter letter;
  Parking parking;
  letter.mailbox = &mailbox;
  letter.parking = &parking;
  [](Letter& own, Parking& at, Mailbox& to, Letter& other, std::vector<int>& log) -> Detached {
    while (!own.delivered) co_await at.park({});
    log.push_back(1);
    to.deliver(other);
  }(letter, parking, mailbox, second.letter, resumed);
  mailbox.deliver(letter);
  loop.poll();
  CHECK(resumed == std::vector{1, 2});
}

TEST_CASE("letters delivered by many threads all arrive") {
  constexpr int kThreads = 4;
  constexpr int kEach = 1000;
  EventLoop loop;
  Mailbox mailbox(loop);
  std::vector<int> resumed;
  std::deque<Waiting> waiting;
  for (int n = 0; n < kThreads * kEach; ++n) waiting.emplace_back(mailbox, n, resumed);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int n = t; n < kThreads * kEach; n += kThreads) mailbox.deliver(waiting[n].letter);
    });
  }
  while (resumed.size() < kThreads * kEach) loop.poll();
  for (std::thread& thread : threads) thread.join();
  std::sort(resumed.begin(), resumed.end());
  CHECK(std::adjacent_find(resumed.begin(), resumed.end()) == resumed.end());
}

}  // namespace spillway::proxy
