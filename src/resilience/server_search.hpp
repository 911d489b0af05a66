// Which of an upstream's servers a request may try next. Within one attempt each is tried at most
// once: a failed connection is no retry, since no byte was sent. Servers that failed earlier
// attempts are tried last, and servers with an open circuit are skipped.
#pragma once

#include <cstddef>

#include "resilience/server_set.hpp"

namespace spillway::resilience {

class ServerSearch {
 public:
  // Call before each attempt, with all of the upstream's servers.
  void begin_attempt(ServerSet all) {
    all_ = all;
    refused_ = {};
    is_any_tried_ = false;
  }

  // The servers to choose from. Empty: the attempt has failed.
  ServerSet candidates() {
    const ServerSet left = all_ - tried_ - refused_;
    if (!left.empty() || is_any_tried_) return left;
    tried_ = {};  // a new round
    return all_ - refused_;
  }
  // Its circuit does not let the request pass.
  void refuse(std::size_t server) { refused_.insert(server); }
  // A connection to it is requested.
  void try_at(std::size_t server) {
    tried_.insert(server);
    is_any_tried_ = true;
  }

  // The kept connection to it had idled for too long, which says nothing about the server: it may
  // be tried again, on a new connection. Otherwise an ejected server might be next.
  void try_again(std::size_t server) { tried_.erase(server); }

  // In this attempt. False: the circuits of all servers have refused it.
  bool is_any_tried() const { return is_any_tried_; }
  // Whether a server is left that was not tried in this round.
  bool has_untried() const { return tried_ != all_; }

 private:
  ServerSet all_;
  ServerSet tried_;    // in this round, possibly in earlier attempts
  ServerSet refused_;  // by their circuits, in this attempt
  bool is_any_tried_ = false;
};

}  // namespace spillway::resilience
