// A proxy whose requests are all deferred, its backend, and its operator.
#pragma once

#include <doctest/doctest.h>

#include <atomic>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <thread>

#include "support/proxy_under_test.hpp"
#include "support/raw_client.hpp"
#include "support/scripted_peer.hpp"

namespace spillway::support {

// A backend that rejects every request until it is told to accept them.
struct RejectingBackend {
  std::atomic<bool> accepts{false};
  ScriptedPeer peer{[this](PeerConnection& proxy) {
    while (proxy.read_request()) {
      proxy.send(accepts ? "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
                         : "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
    }
  }};
};

inline nlohmann::json deferring(nlohmann::json more = nlohmann::json::object()) {
  using nlohmann::json;
  const auto route = [](const char* name) {
    return json{{"name", name},
                {"match", {{"path", "/" + std::string(name) + "/**"}}},
                {"class", "P2"},
                {"defer", {{"when", "always"}}}};
  };
  json changes{{"store", {{"url", "memory:"}}},
               {"workers", 1},
               {"routes", json::array({route("export"), route("mail")})}};
  changes.merge_patch(more);
  return changes;
}

// The id of the job that the request became.
inline std::string defer(std::uint16_t port, std::string_view target, std::string_view body = "x",
                         std::string_view lines = "") {
  const Message accepted = RawClient(port).ask(post(target, body, lines));
  REQUIRE(accepted.status() == 202);
  return nlohmann::json::parse(accepted.body).at("id");
}

struct Operator {
  using json = nlohmann::json;
  std::uint16_t port;  // of the admin listener
  std::string lines = {};

  Message ask(const std::string& method, const std::string& target, const std::string& body = {},
              std::string_view type = "application/json") const {
    return RawClient(port).ask(
        method + " " + target +
        " HTTP/1.1\r\nHost: localhost\r\nContent-Type: " + std::string(type) + "\r\n" + lines +
        "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
  }
  json get(const std::string& target) const {
    const Message answer = ask("GET", target);
    CAPTURE(answer.body);
    REQUIRE(answer.status() == 200);
    return json::parse(answer.body);
  }
  json post(const std::string& target, const json& body = json::object()) const {
    const Message answer = ask("POST", target, body.dump());
    CAPTURE(answer.body);
    REQUIRE(answer.status() == 200);
    return json::parse(answer.body);
  }
  // So many jobs match in the end.
  bool come_to(std::size_t count, const std::string& filter) const {
    const TimePoint until = Clock::now() + kPatience;
    while (Clock::now() < until) {
      if (get("/jobs?" + filter).at("jobs").size() == count) return true;
      std::this_thread::yield();
    }
    return false;
  }
};

}  // namespace spillway::support
