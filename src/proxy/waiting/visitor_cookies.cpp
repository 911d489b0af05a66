#include "proxy/waiting/visitor_cookies.hpp"

#include <algorithm>

namespace spillway::proxy {

VisitorCookies::VisitorCookies(const WaitingRooms& rooms,
                               const std::vector<config::Route>& routes) {
  using enum CookieStanding;
  for (std::size_t n = 0; n < rooms.size(); ++n) {
    const SharedWaitingRoom* const room = rooms[n].get();
    if (room == nullptr) continue;
    const bool is_secure = routes[n].waiting_room->secure_cookie;
    const auto& [for_host, plain] = room->cookies();
    cookies_.push_back({for_host, {room, is_secure ? current : former}});
    cookies_.push_back({plain, {room, is_secure ? plantable : current}});
  }
  std::ranges::sort(cookies_, {}, [](const auto& each) { return each.first; });
}

VisitorCookie VisitorCookies::find(std::string_view name) const {
  const auto found =
      std::ranges::lower_bound(cookies_, name, {}, [](const auto& each) { return each.first; });
  return found != cookies_.end() && found->first == name ? found->second : VisitorCookie{};
}

}  // namespace spillway::proxy
