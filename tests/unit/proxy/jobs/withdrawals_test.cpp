// Jobs that are in hand and are cancelled before anything of them was sent.
#include "proxy/jobs/withdrawals.hpp"

#include <doctest/doctest.h>

#include <vector>

using namespace spillway;
using namespace spillway::proxy;
using jobs::Cause;
using jobs::JobState;

namespace {

jobs::JobId id_of(std::uint8_t number) {
  jobs::JobId id;
  id.bytes[0] = number;
  return id;
}

// As the store has answered it.
StoreCall cancel(const jobs::JobId& id, JobState was = JobState::leased) {
  return StoreCall{
      store::Cancel{.id = id, .cause = Cause::cancelled_by_operator, .was = was, .is_done = false}};
}

store::Settle end(const jobs::JobId& id, JobState state, bool is_lost = false) {
  store::Settle settle;
  settle.id = id;
  settle.progress.state = state;
  settle.is_lost = is_lost;
  return settle;
}

}  // namespace

TEST_CASE("a cancel of a job of which nothing was sent waits until the job has ended") {
  Withdrawals withdrawals;
  const jobs::JobId id = id_of(1);
  withdrawals.open(id);
  CHECK_FALSE(withdrawals.has(id));
  StoreCall first = cancel(id), second = cancel(id);
  REQUIRE(withdrawals.wait(first));
  REQUIRE(withdrawals.wait(second));
  CHECK(withdrawals.has(id));
  CHECK(withdrawals.close(id) == Cause::cancelled_by_operator);
  CHECK_FALSE(withdrawals.has(id));
  CHECK_FALSE(withdrawals.close(id));  // once
  CHECK(withdrawals.settled(end(id_of(2), JobState::cancelled)).empty());
  const auto answered = withdrawals.settled(end(id, JobState::cancelled));
  CHECK(answered.size() == 2);
  CHECK(first.as<store::Cancel>().is_done);
  CHECK(second.as<store::Cancel>().is_done);
  CHECK(withdrawals.give_up().empty());
}

TEST_CASE("one of a job that has been sent, or is not in hand here, does not wait") {
  Withdrawals withdrawals;
  const jobs::JobId sent = id_of(1), waiting = id_of(3);
  withdrawals.open(sent);
  withdrawals.open(waiting);
  CHECK_FALSE(withdrawals.close(sent));
  for (const jobs::JobId& id : {sent, id_of(2)}) {
    StoreCall late = cancel(id);
    CHECK_FALSE(withdrawals.wait(late));
    CHECK_FALSE(withdrawals.has(id));
  }
  for (const JobState was : {JobState::queued, JobState::succeeded, JobState::cancelled}) {
    StoreCall other = cancel(waiting, was);  // the store has answered it
    CHECK_FALSE(withdrawals.wait(other));
  }
  StoreCall question{store::Find{.id = waiting, .job = std::nullopt}};
  CHECK_FALSE(withdrawals.wait(question));
}

TEST_CASE("a job whose lease was lost is not cancelled, and nobody waits for a store that failed") {
  Withdrawals withdrawals;
  for (std::uint8_t n = 1; n <= 2; ++n) withdrawals.open(id_of(n));
  StoreCall lost = cancel(id_of(1)), waiting = cancel(id_of(2));
  REQUIRE(withdrawals.wait(lost));
  REQUIRE(withdrawals.wait(waiting));
  CHECK(withdrawals.settled(end(id_of(1), JobState::cancelled, true)) == std::vector{&lost});
  CHECK_FALSE(lost.as<store::Cancel>().is_done);
  CHECK(withdrawals.give_up() == std::vector{&waiting});
  CHECK(withdrawals.close(id_of(2)) == Cause::cancelled_by_operator);  // it is not sent
}
