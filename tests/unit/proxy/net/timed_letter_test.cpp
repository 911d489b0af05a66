#include "proxy/net/timed_letter.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <optional>
#include <thread>

namespace spillway::proxy {
namespace {

struct TimedQuestion {
  EventLoop loop;
  Mailbox mailbox{loop};
  Parking parking;
  std::shared_ptr<TimedLetter> letter = std::make_shared<TimedLetter>(mailbox, parking);
  std::optional<bool> is_there;  // once the wait has ended

  Detached wait(TimePoint until) {
    const bool came = co_await letter->wait(loop, until);
    is_there = came;
  }
};

constexpr TimePoint kLongPast{};

}  // namespace

TEST_CASE("an answer in time ends the wait whatever else wakes the coroutine before") {
  TimedQuestion question;
  question.wait(kNever);
  question.parking.wake(Wake::client_gone);
  CHECK_FALSE(question.is_there);
  std::thread([letter = question.letter] { letter->deliver(); }).join();
  question.loop.poll();
  CHECK(question.is_there == true);
}

TEST_CASE("an answer that is late finds nothing that waits") {
  TimedQuestion question;
  question.wait(kLongPast);
  CHECK(question.is_there == false);
  question.letter->deliver();
  question.loop.poll();
  CHECK_FALSE(question.parking.parked());
}

TEST_CASE("an answer that is on its way at the end of the wait is waited for") {
  TimedQuestion question;
  question.letter->deliver();
  question.wait(kLongPast);
  CHECK_FALSE(question.is_there);
  question.loop.poll();
  CHECK(question.is_there == true);
}

}  // namespace spillway::proxy
