// Finds the waiting room of a cookie by its name.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "proxy/waiting/shared_waiting_room.hpp"

namespace spillway::proxy {

// The validity of a cookie name, by the secure_cookie of its waiting room.
enum class CookieStanding : std::uint8_t {
  current,   // the name that is set now
  former,    // the name before a reload set it to false: valid only without a current one
  plantable  // a sister host can set it, but not the name that is set now: not valid
};

struct VisitorCookie {
  const SharedWaitingRoom* room = nullptr;  // null: of no waiting room
  CookieStanding standing = CookieStanding::plantable;

  bool operator==(const VisitorCookie&) const = default;
};

class VisitorCookies {
 public:
  // The waiting rooms, which belong to these routes, must outlive it.
  VisitorCookies(const WaitingRooms& rooms, const std::vector<config::Route>& routes);

  bool is_empty() const { return cookies_.empty(); }
  VisitorCookie find(std::string_view name) const;

 private:
  std::vector<std::pair<std::string_view, VisitorCookie>> cookies_;  // by name
};

}  // namespace spillway::proxy
