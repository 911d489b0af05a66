// Who plays the table: the proxy, and NGINX and HAProxy as a careful operator would set them up.
#pragma once

#include <deque>
#include <memory>
#include <optional>

#include "support/haproxy.hpp"
#include "support/nginx.hpp"
#include "support/proxy_under_test.hpp"
#include "system/wire/backend.hpp"
#include "system/wire/table.hpp"

namespace spillway::conformance {

// Bodies are limited to this by all of them; heads and targets to what each has as a default.
inline constexpr std::size_t kBodyLimit = 1'048'576;

class Spillways {
 public:
  explicit Spillways(std::size_t lanes);
  Subject subject();

 private:
  std::deque<Backend> backends_;
  std::deque<support::ProxyUnderTest> proxies_;  // two for each backend: wary, trusting
};

// Host and the forwarding fields set anew, Via added, hop-by-hop fields taken off as far as it can.
class Nginxes {
 public:
  explicit Nginxes(std::size_t lanes);
  Subject subject();

 private:
  std::deque<Backend> backends_;
  std::deque<support::Nginx> proxies_;
};

class HAProxies {
 public:
  explicit HAProxies(std::size_t lanes);
  Subject subject();

 private:
  std::deque<Backend> backends_;
  std::optional<support::HAProxy> proxy_;
};

}  // namespace spillway::conformance
