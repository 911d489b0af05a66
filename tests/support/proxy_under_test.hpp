// The whole proxy in this process, on free ports, stopped at its end.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/server/server.hpp"
#include "support/event.hpp"
#include "support/message.hpp"

namespace spillway::support {

// A configuration with one upstream "app" of these servers ("127.0.0.1:3000"), into which
// `changes` is merged (RFC 7396: objects are merged, anything else replaces). "app" in it is not a
// key of the file but changes that upstream: {"app": {"response_timeout_ms": 100}}.
nlohmann::json configuration(const std::vector<std::string>& servers,
                             nlohmann::json changes = nlohmann::json::object());

// The same as a checked configuration on free ports (0), with two workers and a log of errors only
// unless it says otherwise. Throws std::runtime_error with every problem.
config::Config checked(const nlohmann::json& settings);

class ProxyUnderTest {
 public:
  explicit ProxyUnderTest(config::Config config);
  explicit ProxyUnderTest(const nlohmann::json& settings) : ProxyUnderTest(checked(settings)) {}
  // Asks for a reload with these settings in place of the ones it has: what the page answers. Only
  // settings that were not given as a checked configuration can be replaced.
  Message reload(const nlohmann::json& settings);
  // In front of one server.
  explicit ProxyUnderTest(const std::string& server,
                          const nlohmann::json& changes = nlohmann::json::object())
      : ProxyUnderTest(configuration({server}, changes)) {}

  proxy::Server& server() { return server_; }
  std::uint16_t port() const { return server_.port(); }
  std::uint16_t admin_port() const { return server_.admin_port(); }

  // A page of the admin listener.
  Message admin(std::string_view path) const;
  std::string metrics() const { return admin("/metrics").body; }
  nlohmann::json state() const { return nlohmann::json::parse(admin("/state").body); }
  // The value of one sample, its labels as they are printed; 0 when there is none:
  // metric(R"(spillway_inflight{upstream="app"})").
  double metric(std::string_view sample) const;
  // Asks for a sample again and again until it has this value; false when it never does.
  bool metric_becomes(std::string_view sample, double value, Milliseconds within = kPatience) const;
  bool state_becomes(const std::function<bool(const nlohmann::json&)>& condition,
                     Milliseconds within = kPatience) const;

 private:
  // What a reload reads, which may go on for longer than the server.
  struct Wanted {
    std::mutex mutex;
    std::string text;
  };
  std::shared_ptr<Wanted> wanted_ = std::make_shared<Wanted>();
  proxy::Server server_;
};

}  // namespace spillway::support
