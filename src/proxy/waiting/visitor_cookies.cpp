#include "proxy/waiting/visitor_cookies.hpp"

#include <algorithm>

namespace spillway::proxy {

VisitorCookies::VisitorCookies(const WaitingRooms& rooms) {
  for (const auto& room : rooms) {
    if (!room) continue;
    for (const std::string& cookie : room->cookies()) rooms_.emplace_back(cookie, room.get());
  }
  std::ranges::sort(rooms_);
}

const SharedWaitingRoom* VisitorCookies::room_of(std::string_view cookie) const {
  const auto found =
      std::ranges::lower_bound(rooms_, cookie, {}, [](const auto& each) { return each.first; });
  return found != rooms_.end() && found->first == cookie ? found->second : nullptr;
}

}  // namespace spillway::proxy
