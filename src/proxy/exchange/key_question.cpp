#include "proxy/exchange/key_question.hpp"

#include <mutex>

namespace spillway::proxy {

namespace {

// Kept by the one who asks and by the call, which may come back when nobody waits any more.
struct KeyQuestion {
  explicit KeyQuestion(jobs::Digest scope) : call(store::KnowsKey{.scope = scope}) {}

  StoreCall call;
  std::mutex mutex;
  bool is_answered = false;
  bool is_given_up = false;
  Letter letter;
};

}  // namespace

Task<bool> is_known_key(Services& services, Parking& parking, jobs::Digest scope, TimePoint until) {
  const auto question = std::make_shared<KeyQuestion>(scope);
  question->letter.home = &services.mailbox;
  question->letter.parking = &parking;
  question->call.done = [self = question] {
    const std::lock_guard lock(self->mutex);
    self->is_answered = true;
    if (!self->is_given_up) self->letter.home->deliver(self->letter);
  };
  if (!services.jobs->submit(question->call)) {
    question->call.done = nullptr;
    co_return false;
  }
  Letter& letter = question->letter;
  while (!letter.delivered && services.now() < until) co_await parking.park({.deadline = until});
  bool is_coming = true;
  if (!letter.delivered) {
    const std::lock_guard lock(question->mutex);
    is_coming = question->is_answered;
    question->is_given_up = !is_coming;
  }
  if (!is_coming) co_return false;
  while (!letter.delivered) co_await parking.park({});
  co_return !question->call.failure && question->call.as<store::KnowsKey>().is_known;
}

}  // namespace spillway::proxy
