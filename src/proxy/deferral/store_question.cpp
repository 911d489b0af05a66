#include "proxy/deferral/store_question.hpp"

#include <memory>
#include <utility>

#include "proxy/jobs/job_queue.hpp"
#include "proxy/net/timed_letter.hpp"

namespace spillway::proxy {

namespace {

struct StoreQuestion {
  StoreQuestion(Services& services, Parking& parking, store::Command command)
      : call(std::move(command)), answered(services.mailbox, parking) {}

  StoreCall call;
  TimedLetter answered;
};

}  // namespace

Task<Execution> execute(Services& services, Parking& parking, StoreCall& call,
                        std::optional<Duration> patience) {
  call.mailbox = &services.mailbox;
  call.parking = &parking;
  if (!services.jobs->submit(call)) co_return Execution::refused;
  while (!call.delivered) {
    const TimePoint until = patience ? services.now() + *patience : kNever;
    const Wake wake = co_await parking.park({.deadline = until});
    if (patience && wake == Wake::timeout && services.jobs->withdraw(call) == Withdrawal::withdrawn)
      co_return Execution::refused;
  }
  co_return call.failure ? Execution::failed : Execution::done;
}

Task<std::optional<store::Command>> ask_store(Services& services, Parking& parking,
                                              store::Command command, TimePoint until) {
  const auto question = std::make_shared<StoreQuestion>(services, parking, std::move(command));
  question->call.done = [self = question] { self->answered.deliver(); };
  if (!services.jobs->submit(question->call)) {
    question->call.done = nullptr;
    co_return std::nullopt;
  }
  const bool is_answered = co_await question->answered.wait(services.loop, until);
  if (!is_answered || question->call.failure) co_return std::nullopt;
  co_return std::move(question->call.command);
}

}  // namespace spillway::proxy
