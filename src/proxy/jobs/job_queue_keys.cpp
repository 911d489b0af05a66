// What the store is told about the Idempotency-Keys of requests that are answered live.
#include <utility>

#include "proxy/jobs/job_queue.hpp"

namespace spillway::proxy {

// Wakes the thread for a message, if it sleeps. Once.
void JobQueue::wake() {
  bool wakes = false;
  {
    const std::lock_guard lock(mutex_);
    wakes = is_to_wake();
  }
  if (wakes) bell_.ring();
}

// Keys held under no lease, or under a lost one, end with it.
void JobQueue::tell_of_keys(std::vector<store::Command>& wanted) {
  std::vector<jobs::Digest> free = keys_in_flight_.take_free();
  if (free.empty() || dispatcher_.epoch() == 0) return;
  wanted.emplace_back(store::LetGo{.epoch = dispatcher_.epoch(), .scopes = std::move(free)});
}

void JobQueue::name_asker(StoreCall& call) const {
  if (auto* const key = std::get_if<store::KnowsKey>(&call.command))
    key->asker = dispatcher_.epoch();
  else if (auto* const enqueue = std::get_if<store::Enqueue>(&call.command))
    enqueue->asker = dispatcher_.epoch();
}

// A request that gave up waiting for the answer may have ended by now.
void JobQueue::check_taken(const store::Command& command) {
  const auto* const key = std::get_if<store::KnowsKey>(&command);
  if (key == nullptr || !key->takes || key->asker == 0 || key->is_in_hand) return;
  if (!keys_in_flight_.has_shared(key->scope)) keys_in_flight_.let_go(key->scope);
}

// After a failure the store's state is unknown. A live request releases its shared key itself.
void JobQueue::let_go_later(const store::Command& command) {
  if (const auto* const key = std::get_if<store::KnowsKey>(&command); key && key->takes)
    keys_in_flight_.let_go(key->scope);
  if (const auto* const let_go = std::get_if<store::LetGo>(&command))
    for (const jobs::Digest& scope : let_go->scopes) keys_in_flight_.let_go(scope);
}

}  // namespace spillway::proxy
