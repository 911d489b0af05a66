// The secrets of visitors' tokens if several proxies share them: each reads them once a second, so
// that a replacement requested from one proxy is known to all before it signs. Runs on RoomKeeper's
// thread, except ask().
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "proxy/waiting/secret_request.hpp"
#include "proxy/waiting/shared_waiting_room.hpp"
#include "store/contract/room_log.hpp"

namespace spillway::proxy {

class SharedSecrets {
 public:
  // Until this is over a new secret is only accepted. A proxy that is cut off for longer does not
  // know the tokens that others sign with it.
  static constexpr Milliseconds kAnnounced{30'000};
  static constexpr Milliseconds kLook{1000};

  // `on_older` is called on that thread if an older database took over, or was restored, that lacks
  // a replacement. The newer secrets are written again, so that no replaced one is valid again.
  using OnOlder = std::function<void(const store::Failure&)>;

  SharedSecrets(std::shared_ptr<VisitorContext> context, OnOlder on_older)
      : context_(std::move(context)), on_older_(std::move(on_older)) {}

  std::optional<store::Failure> agree(store::RoomLog& log);
  // Carries out a request, and reads the secrets if that is due, or in any case if `at_once`.
  std::optional<store::Failure> keep(store::RoomLog& log, bool at_once, TimePoint now);
  SecretReply ask(const waiting::SecretChange& change) {
    return requests_.put(change)->wait(SecretRequests::kPatience);
  }

 private:
  std::optional<store::Failure> look(store::RoomLog& log, TimePoint now);
  std::optional<store::Failure> replace(store::RoomLog& log, SecretRequest& request);
  void use(const waiting::TokenSecrets& secrets);

  const std::shared_ptr<VisitorContext> context_;
  const OnOlder on_older_;
  SecretRequests requests_;
  TimePoint looked_{};
};

}  // namespace spillway::proxy
