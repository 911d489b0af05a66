// The proxies under test: Spillway, and NGINX and HAProxy as a careful operator would set them up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "system/wire/origin.hpp"

namespace spillway::wire {

// Where one case at a time is played: a port of the proxy, with an origin of its own behind it.
struct Lane {
  std::uint16_t port = 0;
  std::uint16_t trusting_port = 0;  // where the client's word about forwarding is believed
  std::shared_ptr<Origin> origin = std::make_shared<Origin>();
};

struct ProxyUnderTest {
  std::string name;
  support::Milliseconds patience;  // for what is due
  std::vector<Lane> lanes;
  std::vector<std::shared_ptr<void>> servers;  // its processes; they end before the origins do

  template <class Server, class... Arguments>
  std::shared_ptr<Server> start(Arguments&&... arguments) {
    auto server = std::make_shared<Server>(std::forward<Arguments>(arguments)...);
    servers.push_back(server);
    return server;
  }
};

// Bodies are limited to this by all of them; heads and targets to what each has as a default.
inline constexpr std::size_t kBodyLimit = 1'048'576;

// What is done with the paths below /fresh and /stale (Case::route()); no other is cached.
enum class Caching {
  by_the_rules,  // with a lifetime of a minute where the origin says none
  nothing,
  everything,  // for everyone, whatever the origin says
};

// With {"cache": {"serve": "fresh"}}. Knows no Caching::everything.
ProxyUnderTest spillway(std::size_t lanes, Caching caching = Caching::by_the_rules);

// Host and the forwarding fields set anew, Via added, hop-by-hop fields taken off as far as it can.
// Its cache keeps the whole Host in the key, stores nothing for Authorization (it would) and passes
// on the origin's Date (there is no Age). Knows no Caching::nothing.
ProxyUnderTest nginx(std::size_t lanes, Caching caching = Caching::by_the_rules);

// Without a cache.
ProxyUnderTest haproxy(std::size_t lanes);

}  // namespace spillway::wire
