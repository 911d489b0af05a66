// Which waiting room a cookie is of, by its name.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "proxy/waiting/shared_waiting_room.hpp"

namespace spillway::proxy {

class VisitorCookies {
 public:
  // The waiting rooms outlive it.
  explicit VisitorCookies(const WaitingRooms& rooms);

  bool is_empty() const { return rooms_.empty(); }
  // Null: of none.
  const SharedWaitingRoom* room_of(std::string_view cookie) const;

 private:
  std::vector<std::pair<std::string_view, const SharedWaitingRoom*>> rooms_;  // by name of cookie
};

}  // namespace spillway::proxy
