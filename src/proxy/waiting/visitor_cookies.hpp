// Which waiting room a cookie is of, by its name.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "proxy/waiting/shared_waiting_room.hpp"

namespace spillway::proxy {

// What a name is worth, by the secure_cookie of its waiting room.
enum class CookieStanding : std::uint8_t {
  current,   // of those that are set now
  former,    // of those before a reload set it to false: counts beside no current one
  plantable  // a sister host can plant it, and those that are set now it cannot: does not count
};

struct VisitorCookie {
  const SharedWaitingRoom* room = nullptr;  // null: of none
  CookieStanding standing = CookieStanding::plantable;

  bool operator==(const VisitorCookie&) const = default;
};

class VisitorCookies {
 public:
  // The waiting rooms, of these routes, outlive it.
  VisitorCookies(const WaitingRooms& rooms, const std::vector<config::Route>& routes);

  bool is_empty() const { return cookies_.empty(); }
  VisitorCookie find(std::string_view name) const;

 private:
  std::vector<std::pair<std::string_view, VisitorCookie>> cookies_;  // by name
};

}  // namespace spillway::proxy
