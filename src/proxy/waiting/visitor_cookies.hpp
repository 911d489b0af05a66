// Which waiting room a cookie is of, by its name.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "proxy/waiting/shared_waiting_room.hpp"

namespace spillway::proxy {

struct VisitorCookie {
  const SharedWaitingRoom* room = nullptr;  // null: of none
  bool is_for_host = false;                 // it has the name that no sister host can plant

  bool operator==(const VisitorCookie&) const = default;
};

class VisitorCookies {
 public:
  // The waiting rooms outlive it.
  explicit VisitorCookies(const WaitingRooms& rooms);

  bool is_empty() const { return cookies_.empty(); }
  VisitorCookie find(std::string_view name) const;

 private:
  std::vector<std::pair<std::string_view, VisitorCookie>> cookies_;  // by name
};

}  // namespace spillway::proxy
