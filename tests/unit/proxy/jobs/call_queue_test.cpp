// What goes to the store first, and how much may wait for it.
#include "proxy/jobs/call_queue.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <deque>
#include <string>

using namespace spillway;
using namespace spillway::proxy;

namespace {

// Calls of clients go back to a worker; the operator's do not.
class Desk {
 public:
  bool add(store::Command command, bool is_clients = true) {
    StoreCall& call = calls_.emplace_back(std::move(command));
    if (is_clients) call.mailbox = reinterpret_cast<Mailbox*>(this);  // never delivered
    return queue.add(call);
  }
  std::size_t add_many(const store::Command& command, std::size_t times) {
    std::size_t taken = 0;
    for (std::size_t n = 0; n < times; ++n) taken += add(command) ? 1 : 0;
    return taken;
  }

  CallQueue queue;

 private:
  std::deque<StoreCall> calls_;
};

template <class Kind>
std::size_t count(const CallQueue::Batch& batch) {
  return static_cast<std::size_t>(std::count_if(
      batch.begin(), batch.end(),
      [](const StoreCall* call) { return std::holds_alternative<Kind>(call->command); }));
}

store::Enqueue enqueue(std::size_t bytes = 0) {
  store::Enqueue command;
  command.job.body.assign(bytes, 'x');
  return command;
}

store::Bury letter(std::size_t bytes = 0, std::string route = "a") {
  store::Bury command;
  command.job.body.assign(bytes, 'x');
  command.job.lane.route = std::move(route);
  return command;
}

constexpr std::size_t kFlood = 2 * CallQueue::kMostCalls;

}  // namespace

TEST_CASE("however much clients ask, what changes jobs is taken and goes first") {
  Desk desk;
  CHECK(desk.add_many(store::Find{}, kFlood) == CallQueue::kMostLookups);
  CHECK(desk.add_many(store::ReadAnswer{}, 1) == 0);
  CHECK(desk.add_many(store::Cancel{}, 1) == 0);
  CHECK(desk.add_many(enqueue(), 1) == 1);
  const CallQueue::Batch batch = desk.queue.take_batch();
  CHECK(std::holds_alternative<store::Enqueue>(batch.front()->command));
  CHECK(count<store::Find>(batch) == CallQueue::kBatchLookups);
  // negative control: as many that change jobs do fill the queue
  CHECK(desk.add_many(enqueue(), kFlood) == CallQueue::kMostCalls);
  CHECK_FALSE(desk.add(enqueue()));
}

TEST_CASE("however much clients ask after jobs, it is asked whether a key is known, and of which") {
  Desk desk;
  CHECK(desk.add_many(store::Find{}, kFlood) == CallQueue::kMostLookups);
  CHECK(desk.add(store::KnowsKey{}, false));
  StoreCall of_duplicate{store::Find{}};
  of_duplicate.mailbox = reinterpret_cast<Mailbox*>(&desk);  // never delivered
  of_duplicate.is_of_key = true;
  CHECK(desk.queue.add(of_duplicate));
  CHECK_FALSE(desk.add(store::Find{}));  // negative control
  const CallQueue::Batch batch = desk.queue.take_batch();
  REQUIRE(batch.size() == 2 + CallQueue::kBatchLookups);
  CHECK(std::holds_alternative<store::KnowsKey>(batch[0]->command));
  CHECK(batch[1] == &of_duplicate);
}

TEST_CASE("questions after keys are bounded, and take no place of what clients ask after jobs") {
  Desk desk;
  CHECK(desk.add_many(store::KnowsKey{}, kFlood) == CallQueue::kMostKeyQuestions);
  CHECK(desk.add(store::Find{}));
  const CallQueue::Batch batch = desk.queue.take_batch();
  CHECK(count<store::KnowsKey>(batch) == CallQueue::kBatchKeyQuestions);
  CHECK(count<store::Find>(batch) == 1);
  CHECK(desk.queue.take_refused().size() ==
        CallQueue::kMostKeyQuestions - CallQueue::kBatchKeyQuestions);
  CHECK(desk.queue.is_empty());
}

TEST_CASE("questions after orders have the places of those after keys, and not more") {
  Desk desk;
  CHECK(desk.add_many(enqueue(), kFlood) == CallQueue::kMostCalls);
  CHECK(desk.add_many(store::HasUnfinished{}, kFlood) == CallQueue::kMostKeyQuestions);
  CHECK_FALSE(desk.add(store::KnowsKey{}));
  const CallQueue::Batch batch = desk.queue.take_batch();
  CHECK(count<store::Enqueue>(batch) == CallQueue::kBatchCalls);
  CHECK(count<store::HasUnfinished>(batch) == CallQueue::kBatchKeyQuestions);
}

TEST_CASE("however much is written down, what clients ask has its places in each batch") {
  Desk desk;
  desk.add_many(enqueue(), CallQueue::kMostCalls);
  desk.add_many(store::Find{}, 10);
  const CallQueue::Batch batch = desk.queue.take_batch();
  CHECK(count<store::Enqueue>(batch) == CallQueue::kBatchCalls);
  CHECK(count<store::Find>(batch) == 10);
}

TEST_CASE("the operator's questions do not stand behind those of clients") {
  Desk desk;
  desk.add_many(store::Find{}, kFlood);
  CHECK(desk.add(store::Cancel{}, false));
  CHECK(desk.add(store::Inspect{}, false));
  const CallQueue::Batch batch = desk.queue.take_batch();
  CHECK(count<store::Cancel>(batch) == 1);
  CHECK(count<store::Inspect>(batch) == 1);
}

TEST_CASE("letters are bounded in number and bytes, and each batch has at least one") {
  Desk desk;
  CHECK(desk.add_many(letter(), kFlood) == CallQueue::kMostLetters);
  CHECK_FALSE(desk.queue.has_room_for_letter());
  CHECK(desk.queue.letters_by_route().at("a") == CallQueue::kMostLetters);
  CHECK(count<store::Bury>(desk.queue.take_batch()) == CallQueue::kBatchLetters);
  CHECK(desk.queue.has_room_for_letter());
  Desk large;
  CHECK(large.add_many(letter(CallQueue::kBatchBytes), 20) == 8);
  large.add(enqueue(CallQueue::kBatchBytes));
  const CallQueue::Batch batch = large.queue.take_batch();
  CHECK(count<store::Enqueue>(batch) == 1);
  CHECK(count<store::Bury>(batch) == 1);
}

TEST_CASE("a Settle is taken when nothing else is, and stays when the store fails") {
  Desk desk;
  desk.add_many(enqueue(), kFlood);
  desk.add_many(store::Find{}, 1);
  desk.add_many(letter(), 1);
  CHECK(desk.add(store::Settle{}));
  const CallQueue::Batch refused = desk.queue.take_refused();
  CHECK(refused.size() == CallQueue::kMostCalls + 2);
  CHECK(count<store::Settle>(refused) == 0);
  const CallQueue::Batch batch = desk.queue.take_batch();
  CHECK(batch.size() == 1);
  CHECK(count<store::Settle>(batch) == 1);
  CHECK(desk.queue.is_empty());
  desk.queue.put_back(*batch.front());
  CHECK_FALSE(desk.queue.is_empty());
}

TEST_CASE("what may take long goes alone, in its turn") {
  Desk desk;
  desk.add(enqueue());
  desk.add(store::Purge{}, false);
  desk.add(enqueue());
  desk.add(store::Find{});
  CHECK(count<store::Enqueue>(desk.queue.take_batch()) == 1);
  const CallQueue::Batch alone = desk.queue.take_batch();
  CHECK(alone.size() == 1);
  CHECK(count<store::Purge>(alone) == 1);
  CHECK(count<store::Enqueue>(desk.queue.take_batch()) == 1);
}

TEST_CASE("what Spillway itself tells takes no place of what clients defer, and keeps its order") {
  Desk desk;
  CHECK(desk.add_many(enqueue(1), kFlood) == CallQueue::kMostCalls);
  std::deque<StoreCall> notices;
  const auto add_notice = [&] {
    notices.emplace_back(enqueue(notices.size()));
    notices.back().is_notice = true;
    return desk.queue.add(notices.back());
  };
  CHECK(desk.queue.room_for_notices() == CallQueue::kMostNotices);
  while (desk.queue.room_for_notices() > 0) CHECK(add_notice());
  CHECK_FALSE(add_notice());
  const CallQueue::Batch batch = desk.queue.take_batch();
  REQUIRE(batch.size() == CallQueue::kBatchCalls + CallQueue::kBatchNotices);
  for (std::size_t n = 0; n < CallQueue::kBatchNotices; ++n)
    CHECK(batch[CallQueue::kBatchCalls + n] == &notices[n]);
  CHECK(desk.queue.room_for_notices() == CallQueue::kBatchNotices);
  CHECK(desk.queue.take_refused().size() == CallQueue::kMostCalls - CallQueue::kBatchCalls +
                                                CallQueue::kMostNotices - CallQueue::kBatchNotices);
  CHECK(desk.queue.is_empty());
}
