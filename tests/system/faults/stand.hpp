// The proxy as a process in front of two upstreams, one faulty and one sound, and what has to be
// true of it once everybody has left.
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

class Stand {
 public:
  struct Settings {
    nlohmann::json changes = nlohmann::json::object();  // to the file; "app": to both upstreams
    std::vector<std::string> servers;  // of the faulty upstream; empty: the faulty backends
    std::size_t more_backends = 0;     // beside the one
    std::vector<std::string> under;    // the command that the proxy runs under
  };
  explicit Stand(const Settings& settings);

  support::FaultyBackend backend;  // all targets but
  support::FaultyBackend sound;    // "/sound/..."
  std::vector<std::unique_ptr<support::FaultyBackend>> more;
  std::vector<std::unique_ptr<support::RefusingPort>> dead;  // where some of them were
  support::ProxyProcess& proxy() { return *proxy_; }
  std::uint16_t port() const { return proxy_->port(); }
  Scrape scrape() const;

  // What is not as it was before anybody came, in words, once it has had time to become so: slots,
  // places, connections, descriptors, counters. Empty: nothing is left over.
  std::string left_over() const;
  // The requests that the proxy says have ended.
  double ended() const { return scrape().sum("spillway_requests_total"); }

 private:
  std::string left_over_now() const;
  std::size_t open_files() const;

  std::unique_ptr<support::ProxyProcess> proxy_;
  std::size_t files_ = 0;  // open while nobody was there
};

}  // namespace spillway::faults
