#include "proxy_view.hpp"

#include <nlohmann/json.hpp>

namespace spillway::demo {
namespace {

using nlohmann::json;

const json* member(const json* object, const char* key) {
  if (object == nullptr || !object->is_object()) return nullptr;
  const auto found = object->find(key);
  return found == object->end() ? nullptr : &*found;
}

std::string text(const json* value) {
  return value != nullptr && value->is_string() ? value->get<std::string>() : std::string();
}

// A number, or the sum of the numbers in an object or array (queue depths by class).
std::optional<std::uint64_t> total(const json* value) {
  if (value == nullptr) return std::nullopt;
  if (value->is_number_unsigned()) return value->get<std::uint64_t>();
  if (!value->is_structured()) return std::nullopt;
  std::uint64_t sum = 0;
  for (const json& part : *value) {
    if (part.is_number_unsigned()) sum += part.get<std::uint64_t>();
  }
  return sum;
}

std::optional<RoomView> first_room(const json& state) {
  const json* const rooms = member(&state, "waiting_rooms");
  if (rooms == nullptr || !rooms->is_array() || rooms->empty()) return std::nullopt;
  const auto count = [&](const char* key) { return total(member(&rooms->front(), key)); };
  const auto waiting = count("waiting");
  const auto processing = count("processing");
  const auto active = count("active");
  const auto provisional = count("provisional");
  if (!waiting || !processing || !active || !provisional) return std::nullopt;
  return RoomView{*waiting, *processing, *active + *provisional};
}

}  // namespace

std::optional<ProxyView> parse_state(std::string_view text_of_state) {
  const json state = json::parse(text_of_state, nullptr, /*allow_exceptions=*/false);
  const json* const upstreams = member(&state, "upstreams");
  if (upstreams == nullptr || !upstreams->is_array() || upstreams->empty()) return std::nullopt;
  const json* const upstream = &upstreams->front();
  const json* const dispatch = member(upstream, "dispatch");
  return ProxyView{.state = text(member(upstream, "state")),
                   .reason = text(member(upstream, "reason")),
                   .inflight = total(member(dispatch, "inflight")),
                   .queued = total(member(dispatch, "queued")),
                   .deferred = total(member(member(&state, "jobs"), "accepted")),
                   .done = total(member(member(&state, "jobs"), "succeeded")),
                   .room = first_room(state)};
}

}  // namespace spillway::demo
