// One line before one shop, of two proxies on one PostgreSQL, and a crowd that goes to either.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "support/postgres.hpp"
#include "support/proxy_process.hpp"
#include "support/raw_client.hpp"
#include "support/scripted_peer.hpp"

namespace spillway::support {

// Answers "in", and knows whose passes came.
class SharedShop {
 public:
  SharedShop();

  std::string address() const { return peer_.address(); }
  std::set<std::string> ids() const;

 private:
  mutable std::mutex mutex_;
  std::set<std::string> ids_;
  ScriptedPeer peer_;
};

nlohmann::json shared_sale(const std::string& url, const std::string& shop, nlohmann::json room);

// With one cookie, which goes to any proxy. Each request has a connection of its own, and is given
// up after a while: a proxy may be gone, or stand still.
class Guest {
 public:
  explicit Guest(bool asks_quietly = true) : asks_quietly_(asks_quietly) {}

  // nullopt: no answer, as from a proxy that is gone.
  std::optional<Message> visit(std::uint16_t port) { return ask(port, "GET", "/sale/page", true); }
  // Its state at that proxy; "": no answer.
  std::string poll(std::uint16_t port);
  bool leave(std::uint16_t port);

  char holds() const;  // 's', 't', 'p' of its cookie; 0: none
  const std::string& id() const { return id_; }
  std::int64_t position() const { return position_; }  // as the last poll told; 0: none

 private:
  std::optional<Message> ask(std::uint16_t port, std::string_view method, std::string_view target,
                             bool navigates);

  bool asks_quietly_;
  std::string jar_;
  std::string id_;
  std::int64_t position_ = 0;
};

// What anybody may see of a ticket; null: no answer.
nlohmann::json look(std::uint16_t port, const std::string& id);
std::int64_t position(std::uint16_t port, const std::string& id);

// People who come, wait, go in, stay for a moment and leave, each at any of the proxies, and at
// another one when it does not answer.
class GuestCrowd {
 public:
  GuestCrowd(std::vector<std::uint16_t> ports, std::size_t guests);
  ~GuestCrowd();
  GuestCrowd(const GuestCrowd&) = delete;
  GuestCrowd& operator=(const GuestCrowd&) = delete;

  std::size_t entered() const { return entered_; }
  // The most who were inside at once, for certain: from the answer that let one in to its leave.
  std::size_t most_inside() const { return most_inside_; }
  // Who was told that its place is gone.
  std::size_t lost() const { return lost_; }
  std::set<std::string> ids() const;      // of those who entered
  std::set<std::string> waiting() const;  // of those who have a ticket, and have not entered
  // The most who entered within a minute.
  std::size_t most_in_a_minute() const;
  bool comes_to_have_entered(std::size_t guests, Milliseconds within) const;

 private:
  void play(std::size_t number);
  void enter(const std::string& id);
  void wait(const std::string& id);
  bool may_go_on() const { return !is_over_; }

  const std::vector<std::uint16_t> ports_;
  std::atomic<bool> is_over_{false};
  std::atomic<std::size_t> entered_{0};
  std::atomic<std::size_t> inside_{0};
  std::atomic<std::size_t> most_inside_{0};
  std::atomic<std::size_t> lost_{0};
  mutable std::mutex mutex_;
  std::set<std::string> ids_;
  std::set<std::string> waiting_;
  std::vector<std::chrono::steady_clock::time_point> times_;
  Event ended_;
  std::vector<std::thread> guests_;
};

}  // namespace spillway::support
