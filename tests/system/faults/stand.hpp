// A proxy as a process in front of two upstreams, one faulty and one sound: Spillway, and what has
// to be true of it once all clients have left; or NGINX or HAProxy.
#pragma once

#include <cstddef>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/faulty_backend.hpp"
#include "support/proxy_process.hpp"
#include "system/faults/asking.hpp"
#include "system/faults/peers.hpp"

namespace spillway::faults {

// The samples of one look at /metrics.
class Scrape {
 public:
  explicit Scrape(const std::string& text);

  // Of all samples of a family; 0 without any. `having`: what their labels have to contain.
  double sum(std::string_view family, std::string_view having = {}) const;
  bool has(std::string_view family) const;

 private:
  std::vector<std::pair<std::string, double>> samples_;
};

// How long clients wait for what is due at NGINX and HAProxy, from whom much never comes:
// longer than a row gives a proxy for one server.
inline constexpr support::Milliseconds kPatienceWithPeers{3000};

class Stand {
 public:
  struct Settings {
    nlohmann::json changes = nlohmann::json::object();  // to the file; "app": to both upstreams
    std::vector<std::string> servers;  // of the faulty upstream; empty: the faulty backends
    std::size_t more_backends = 0;     // beside the one
    std::string last_always = {};      // what the last of them does wrong whatever it is asked
    std::vector<std::string> under;    // the command that the proxy runs under
    // Paths that have a route of their own; NGINX and HAProxy need none.
    std::vector<std::string> routes = {};
  };
  explicit Stand(const Settings& settings);
  // With one of the others in Spillway's place.
  Stand(const Settings& settings, Peer peer, const Wanted& wanted);

  support::FaultyBackend backend;  // all targets but
  support::FaultyBackend sound;    // "/sound/..."
  std::vector<std::unique_ptr<support::FaultyBackend>> more;
  std::vector<std::unique_ptr<support::RefusingPort>> dead;  // where some of them were

  std::uint16_t port() const { return is_spillway() ? proxy_->port() : peer_->port(); }
  // How long clients wait for what is due.
  support::Milliseconds patience() const;
  Outcome ask(std::size_t way, Question question) const;
  // What may be at work at a server at once, if there is a bound.
  std::size_t slots() const { return slots_; }
  // The requests that have come to all backends.
  std::size_t requests() const;

  // All below is of Spillway alone.
  bool is_spillway() const { return proxy_ != nullptr; }
  support::ProxyProcess& proxy() { return *proxy_; }
  Scrape scrape() const;

  // What is not as it was before anybody came, in words, once it has had time to become so: slots,
  // places, connections, descriptors, counters. Empty: nothing is left over.
  std::string left_over() const;
  // The requests that the proxy says have ended.
  double ended() const { return scrape().sum("spillway_requests_total"); }

 private:
  std::vector<std::string> start_more(const Settings& settings);
  std::string left_over_now() const;
  std::size_t open_files() const;

  std::size_t slots_ = 0;
  std::unique_ptr<support::ProxyProcess> proxy_;
  std::unique_ptr<PeerProcess> peer_;
  std::size_t files_ = 0;  // open without clients
};

}  // namespace spillway::faults
