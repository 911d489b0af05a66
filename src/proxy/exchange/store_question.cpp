#include "proxy/exchange/store_question.hpp"

#include <memory>
#include <mutex>
#include <utility>

#include "proxy/jobs/job_queue.hpp"

namespace spillway::proxy {

namespace {

// Kept by the one who asks and by the call, which may come back when nobody waits any more.
struct StoreQuestion {
  explicit StoreQuestion(store::Command command) : call(std::move(command)) {}

  StoreCall call;
  std::mutex mutex;
  bool is_answered = false;
  bool is_given_up = false;
  Letter letter;
};

}  // namespace

Task<std::optional<store::Command>> ask_store(Services& services, Parking& parking,
                                              store::Command command, TimePoint until) {
  const auto question = std::make_shared<StoreQuestion>(std::move(command));
  question->letter.home = &services.mailbox;
  question->letter.parking = &parking;
  question->call.done = [self = question] {
    const std::lock_guard lock(self->mutex);
    self->is_answered = true;
    if (!self->is_given_up) self->letter.home->deliver(self->letter);
  };
  if (!services.jobs->submit(question->call)) {
    question->call.done = nullptr;
    co_return std::nullopt;
  }
  Letter& letter = question->letter;
  while (!letter.delivered && services.now() < until) co_await parking.park({.deadline = until});
  bool is_coming = true;
  if (!letter.delivered) {
    const std::lock_guard lock(question->mutex);
    is_coming = question->is_answered;
    question->is_given_up = !is_coming;
  }
  if (!is_coming) co_return std::nullopt;
  while (!letter.delivered) co_await parking.park({});
  if (question->call.failure) co_return std::nullopt;
  co_return std::move(question->call.command);
}

}  // namespace spillway::proxy
