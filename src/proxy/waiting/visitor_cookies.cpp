#include "proxy/waiting/visitor_cookies.hpp"

#include <algorithm>

namespace spillway::proxy {

VisitorCookies::VisitorCookies(const WaitingRooms& rooms) {
  for (const auto& room : rooms) {
    if (!room) continue;
    const auto& [for_host, plain] = room->cookies();
    cookies_.push_back({for_host, {room.get(), true}});
    cookies_.push_back({plain, {room.get(), false}});
  }
  std::ranges::sort(cookies_, {}, [](const auto& each) { return each.first; });
}

VisitorCookie VisitorCookies::find(std::string_view name) const {
  const auto found =
      std::ranges::lower_bound(cookies_, name, {}, [](const auto& each) { return each.first; });
  return found != cookies_.end() && found->first == name ? found->second : VisitorCookie{};
}

}  // namespace spillway::proxy
