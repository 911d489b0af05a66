// NGINX and HAProxy in the proxy's place, as a careful operator would set them up for what a row
// wants.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace spillway::faults {

enum class Peer { nginx, haproxy };
inline constexpr Peer kPeers[] = {Peer::nginx, Peer::haproxy};
std::string name_of(Peer peer);

// What a row wants of a proxy, as far as it can be said in the words of all three. Times are in
// milliseconds, a count of 0 is no bound.
struct Wanted {
  int connect_ms = 5'000;
  int response_ms = 10'000;  // that a server may be silent
  int head_ms = 10'000;      // for a request's head
  int silence_ms = 60'000;   // of a client
  int wait_ms = 60'000;      // for a slot
  int tunnel_ms = 300'000;   // that a tunnel may be silent
  std::size_t slots = 0;     // requests at a server
  std::size_t clients = 0;   // their connections
  std::size_t tunnels = 0;
  std::size_t failures = 0;  // in a row, after which a server is left out
  std::size_t stored = 0;    // bytes of responses, while they are fresh
  bool reads_bodies_first = true;
  bool repeats = false;             // a request that failed, at the only server, too
  bool finishes_abandoned = false;  // a request whose client has left goes on and counts
};

// The changes to Spillway's configuration in these terms. Throws std::invalid_argument where one of
// them has none: the row says then what the others are to do.
Wanted wanted(const nlohmann::json& changes);

struct Servers {
  std::vector<std::string> app;  // "127.0.0.1:3000"
  std::string sound;             // of all targets below "/sound"
};

// NGINX has no queue before a server without a licence: so many more than the slots are let through
// as are not to be refused for want of one. Fewer than those who want to hold them.
inline constexpr std::size_t kInsteadOfQueue = 16;

// Their configurations: of NGINX inside the server block and before it.
std::string nginx_server(const Wanted& wanted);
std::string nginx_http(const Wanted& wanted, const Servers& servers);
std::size_t nginx_connections(const Wanted& wanted);
std::string haproxy_configuration(const Wanted& wanted, const Servers& servers);

// One of them as a process, ended at its end.
class PeerProcess {
 public:
  // `under` as for support::ProxyProcess. Throws std::runtime_error when it does not come up.
  PeerProcess(Peer peer, const Wanted& wanted, const Servers& servers,
              const std::vector<std::string>& under);
  std::uint16_t port() const { return port_; }

 private:
  std::shared_ptr<void> process_;
  std::uint16_t port_ = 0;
};

}  // namespace spillway::faults
