#include "proxy/waiting/shared_secrets.hpp"

#include <string>

#include "proxy/net/random_bytes.hpp"

namespace spillway::proxy {

std::optional<store::Failure> SharedSecrets::agree(store::RoomLog& log) {
  HmacKey first;
  if (!fill_randomly(first))
    return store::Failure{store::Failure::Kind::unavailable, "no random numbers from the system"};
  waiting::TokenSecrets agreed;
  if (auto failure = log.agree_on(first, agreed)) return failure;
  use(agreed);
  return std::nullopt;
}

std::optional<store::Failure> SharedSecrets::keep(store::RoomLog& log, bool at_once,
                                                  TimePoint now) {
  const auto request = requests_.take();
  if (!request && !at_once && now - looked_ < kLook) return std::nullopt;
  if (auto failure = look(log, now)) {
    if (request) request->answer({});
    return failure;
  }
  if (request) return replace(log, *request);
  const waiting::TokenSecrets& secrets = context_->keys.secrets();
  const bool is_over = secrets.former && !secrets.accepts_former(context_->clock.at(now));
  return is_over ? log.forget_former() : std::nullopt;
}

std::optional<store::Failure> SharedSecrets::look(store::RoomLog& log, TimePoint now) {
  waiting::TokenSecrets secrets;
  if (auto failure = log.read(secrets)) return failure;
  const waiting::TokenSecrets& known = context_->keys.secrets();
  if (secrets.number < known.number) {
    if (auto failure = log.restore(known)) return failure;
    on_older_({store::Failure::Kind::corrupt, "it has secret " + std::to_string(secrets.number) +
                                                  " of visitors' tokens, an older one; secret " +
                                                  std::to_string(known.number) +
                                                  " is written again"});
  } else {
    use(secrets);
  }
  looked_ = now;
  return std::nullopt;
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
