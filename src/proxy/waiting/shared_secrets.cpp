#include "proxy/waiting/shared_secrets.hpp"

#include <sys/random.h>

namespace spillway::proxy {

std::optional<store::Failure> SharedSecrets::agree(store::RoomLog& log) {
  HmacKey first;
  if (::getrandom(first.data(), first.size(), 0) != static_cast<ssize_t>(first.size()))
    return store::Failure{store::Failure::Kind::unavailable, "no random numbers from the system"};
  waiting::TokenSecrets agreed;
  if (auto failure = log.agree_on(first, agreed)) return failure;
  use(agreed);
  return std::nullopt;
}

std::optional<store::Failure> SharedSecrets::keep(store::RoomLog& log, bool at_once,
                                                  TimePoint now) {
  if (const auto request = requests_.take()) return replace(log, *request);
  if (!at_once && now - looked_ < kLook) return std::nullopt;
  waiting::TokenSecrets secrets;
  if (auto failure = log.read(secrets)) return failure;
  looked_ = now;
  use(secrets);
  const bool is_over = secrets.former && !secrets.accepts_former(context_->clock.at(now));
  return is_over ? log.forget_former() : std::nullopt;
}

std::optional<store::Failure> SharedSecrets::replace(store::RoomLog& log, SecretRequest& request) {
  SecretReply reply;
  bool is_done = false;
  auto failure = log.replace(request.change, kAnnounced, reply.secrets, is_done);
  if (!failure) {
    use(reply.secrets);
    reply.result = is_done ? SecretResult::replaced : SecretResult::under_way;
  }
  request.answer(reply);
  return failure;
}

void SharedSecrets::use(const waiting::TokenSecrets& secrets) {
  if (secrets != context_->keys.secrets()) context_->keys.set(secrets);
}

}  // namespace spillway::proxy
