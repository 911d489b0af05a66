// A sale behind a waiting room: the shop, and visitors as browsers and programs are.
#pragma once

#include <doctest/doctest.h>

#include <cstdint>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/proxy_under_test.hpp"
#include "support/raw_client.hpp"
#include "support/scripted_peer.hpp"

namespace spillway::support {

// Keeps what it is asked, and answers "in".
class Shop {
 public:
  explicit Shop(std::string fields = "")
      : peer_([this, fields = std::move(fields)](PeerConnection& proxy) {
          while (const auto request = proxy.read_request()) {
            {
              const std::lock_guard lock(mutex_);
              requests_.push_back(*request);
            }
            proxy.send("HTTP/1.1 200 OK\r\n" + fields + "Content-Length: 2\r\n\r\nin");
          }
        }) {}

  std::string address() const { return peer_.address(); }
  std::vector<Message> requests() const {
    const std::lock_guard lock(mutex_);
    return requests_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<Message> requests_;
  ScriptedPeer peer_;
};

inline nlohmann::json selling(nlohmann::json room, nlohmann::json more = nlohmann::json::object()) {
  room.merge_patch({{"secure_cookie", false}});
  nlohmann::json changes{{"workers", 1},
                         {"store", {{"url", "memory:"}}},
                         {"routes",
                          {{{"name", "sale"},
                            {"match", {{"path", "/sale/**"}}},
                            {"class", "P1"},
                            {"waiting_room", std::move(room)}}}}};
  changes.merge_patch(more);
  return changes;
}

// Nobody enters without a ticket.
inline nlohmann::json always(std::uint32_t sessions = 1) {
  return {{"active_sessions", sessions}, {"when", "always"}};
}

inline const std::string kNavigation =
    "Accept: text/html\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document\r\n"
    "Sec-Fetch-Site: none\r\n";

// Of the same millisecond, the order is not by who came first: so that the next one comes after.
inline void leave_the_millisecond() {
  const TimePoint next = Clock::now() + Milliseconds(1);
  while (Clock::now() < next) {
  }
}

// With a jar for the one cookie of the waiting room.
class Visitor {
 public:
  template <class Proxy>
  explicit Visitor(const Proxy& proxy, std::string fields = kNavigation)
      : client_(proxy.port()), fields_(std::move(fields)) {}

  // The first one is its arrival.
  Message visit(std::string_view target = "/sale/page") {
    const bool arrives = jar_.empty();
    Message answer = ask("GET", target, fields_);
    if (arrives) leave_the_millisecond();
    return answer;
  }
  nlohmann::json poll() {
    const Message answer = ask("GET", "/_spillway/rooms/sale/ticket", "Sec-Fetch-Mode: cors\r\n");
    CHECK(answer.status() == 200);
    return nlohmann::json::parse(answer.body);
  }
  Message ask(std::string_view method, std::string_view target, std::string_view fields) {
    const std::string cookie = jar_.empty() ? "" : "Cookie: own=1; " + jar_ + "; more=2\r\n";
    Message answer =
        client_.ask(std::string(method) + " " + std::string(target) + " HTTP/1.1\r\nHost: a\r\n" +
                    cookie + std::string(fields) + "\r\n");
    if (const auto set = answer.field("Set-Cookie")) jar_ = set->substr(0, set->find(';'));
    return answer;
  }
  // Its first contact, and the second, which gives it a place.
  nlohmann::json join() {
    CHECK(visit().status() == 503);
    return poll();
  }
  // A look at a ticket, as anybody may take it, however often.
  nlohmann::json look(const std::string& id) {
    const Message answer = client_.ask(get("/_spillway/rooms/sale/tickets/" + id));
    return nlohmann::json::parse(answer.body);
  }
  // Looks until it is called.
  bool is_called() {
    const std::string id = poll().value("id", "");
    const Deadline deadline(kPatience);
    while (!deadline.passed()) {
      if (look(id).value("state", "") == "processing") return true;
    }
    return false;
  }

  const std::string& jar() const { return jar_; }
  void carry(std::string jar) { jar_ = std::move(jar); }
  RawClient& client() { return client_; }

 private:
  RawClient client_;
  std::string fields_;
  std::string jar_;
};

inline bool is_in(const Message& answer) { return answer.status() == 200 && answer.body == "in"; }

}  // namespace spillway::support
