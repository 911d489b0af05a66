#include "proxy/visitors/waiting_draw.hpp"

#include <string>
#include <string_view>

#include "base/sha256.hpp"
#include "base/time_text.hpp"

namespace spillway::proxy {

std::optional<LocalReply> draw_response(SharedWaitingRoom& room, TimePoint now) {
  waiting::Start start;
  const bool is_over = room.with(now, [&](waiting::WaitingRoom& its, waiting::Time time) {
    start = its.terms().start;
    return start.is_over(time);
  });
  if (!start.draw) return std::nullopt;
  const std::string_view key(reinterpret_cast<const char*>(start.draw->data()), start.draw->size());
  LocalReply response;
  response.lines = "Content-Type: application/json\r\nCache-Control: no-store\r\n";
  response.content = "{\"room\":\"" + room.name() + "\",\"opens_at\":\"" +
                     spillway::to_text(start.at) + "\",\"commitment\":\"" +
                     spillway::to_text(sha256(key)) + "\"";
  if (is_over) response.content += ",\"key\":\"" + spillway::to_text(*start.draw) + "\"";
  response.content += "}\n";
  return response;
}

}  // namespace spillway::proxy
