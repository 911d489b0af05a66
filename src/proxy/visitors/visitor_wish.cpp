#include "proxy/visitors/visitor_wish.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/reason.hpp"
#include "http/field/query.hpp"

namespace spillway::proxy {

namespace {

using nlohmann::json;
using waiting::Ask;

constexpr std::size_t kMostName = 64;

bool is_plain_name(std::string_view text) {
  return !text.empty() && text.size() <= kMostName && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == '-';
  });
}

// nullopt: not a whole number, or one that does not fit.
std::optional<std::uint32_t> whole_number(const json& value) {
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() > UINT32_MAX) return std::nullopt;
  return value.get<std::uint32_t>();
}

// Returns a sentence if it is refused.
std::optional<std::string> read_sizes(const json& sizes, Ask& ask) {
  if (!sizes.is_object() || sizes.size() > waiting::kMostSizes)
    return "\"sizes\" must be an object with at most " + std::to_string(waiting::kMostSizes) +
           " members.";
  for (const auto& [name, value] : sizes.items()) {
    const auto number = whole_number(value);
    if (!number || !is_plain_name(name))
      return "In \"sizes\" each member is the name of a size, with a whole number.";
    ask.sizes.push_back({name, *number});
  }
  return std::nullopt;
}

std::optional<std::string> read_member(const std::string& name, const json& value, Ask& ask) {
  if (name == "type") {
    if (!value.is_string() || !is_plain_name(value.get_ref<const std::string&>()))
      return "\"type\" must be the name of a type of resource.";
    ask.type = value.get<std::string>();
    return std::nullopt;
  }
  if (name == "sizes") return read_sizes(value, ask);
  if (name == "duration_ms" || name == "max_wait_ms") {
    const auto number = whole_number(value);
    if (!number || *number == 0) return "\"" + name + "\" must be a whole number from 1 on.";
    (name == "duration_ms" ? ask.duration : ask.max_wait) = Milliseconds(*number);
    return std::nullopt;
  }
  return "A member is not known: it may be type, sizes, duration_ms and max_wait_ms.";
}

LocalReply problem(unsigned status, std::string_view title, std::string_view requirement,
                   std::string_view detail) {
  nlohmann::ordered_json members{{"type", "about:blank"},
                                 {"title", title},
                                 {"status", status},
                                 {"reason", name(Reason::waiting_room)}};
  if (!requirement.empty()) members["requirement"] = requirement;
  members["detail"] = detail;
  constexpr auto kReplace = json::error_handler_t::replace;
  return {status, "Cache-Control: no-store\r\nContent-Type: application/problem+json\r\n",
          members.dump(-1, ' ', false, kReplace) + "\n"};
}

}  // namespace

std::variant<Ask, std::string> read_ask(std::string_view body) {
  // The parser keeps the last of duplicate names and accepts any depth: both are refused here.
  std::size_t members = 0;
  bool is_deep = false;
  const auto count = [&](int depth, json::parse_event_t event, json&) {
    if (event == json::parse_event_t::key) ++members;
    is_deep = is_deep || depth > 2;
    return true;
  };
  const json document = json::parse(body, count, false);
  if (document.is_discarded() || !document.is_object() || is_deep)
    return std::string("The body must be a JSON object.");
  Ask ask;
  std::size_t kept = document.size();
  for (const auto& [name, value] : document.items()) {
    if (auto refused = read_member(name, value, ask)) return *std::move(refused);
    if (value.is_object()) kept += value.size();
  }
  if (members != kept) return std::string("A member is given twice.");
  return ask;
}

std::variant<Ask, std::string> ask_in_link(std::string_view target) {
  const std::size_t mark = target.find('?');
  // Most links have no such parameter: the rest of their query is not checked here.
  if (mark == std::string_view::npos || target.find(kWantParameter, mark) == target.npos)
    return Ask{};
  const std::string wrong = std::string(kWantParameter) +
                            " must be a type and what it needs, for instance "
                            "gpu;memory_gb=64;duration_ms=3600000";
  for (std::string_view rest = target.substr(mark + 1); !rest.empty();) {
    const std::size_t end = std::min(rest.find('&'), rest.size());
    const std::string_view part = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (!part.starts_with(kWantParameter)) continue;
    const auto read = http::read_query(part);
    const auto* const parameters = std::get_if<http::Parameters>(&read);
    if (parameters == nullptr || parameters->size() != 1) return wrong;
    const http::Parameter& only = parameters->front();
    if (only.name != kWantParameter) continue;
    const auto ask = waiting::parse_ask(only.value);
    return ask ? std::variant<Ask, std::string>(*ask) : wrong;
  }
  return Ask{};
}

Understood understand(SharedWaitingRoom& room, const Ask& ask, TimePoint now) {
  using waiting::CarriedWish;
  using waiting::Unmet;
  using waiting::Wish;
  return room.with(now, [&](waiting::WaitingRoom& inside, waiting::Time) -> Understood {
    const waiting::Catalog& catalog = inside.stock().catalog();
    if (!inside.hands_out()) {
      if (ask == Ask{}) return std::nullopt;
      return Unmet{ask.type.empty() ? "sizes" : "type", "Nothing is handed out here."};
    }
    auto understood = catalog.understand(ask);
    if (auto* const unmet = std::get_if<Unmet>(&understood)) return std::move(*unmet);
    return CarriedWish{catalog.fingerprint(), std::get<Wish>(understood)};
  });
}

std::optional<waiting::CarriedWish> wish_of(SharedWaitingRoom& room, const Ask& ask,
                                            TimePoint now) {
  Understood understood = understand(room, ask, now);
  auto* const wish = std::get_if<std::optional<waiting::CarriedWish>>(&understood);
  return wish != nullptr ? *wish : std::nullopt;
}

std::optional<Ask> ask_of(SharedWaitingRoom& room, const waiting::Token& stamp, TimePoint now) {
  if (!stamp.wish) return Ask{};
  return room.with(now, [&](waiting::WaitingRoom& inside, waiting::Time) -> std::optional<Ask> {
    if (!inside.hands_out()) return Ask{};
    const waiting::Catalog& catalog = inside.stock().catalog();
    const bool is_known = stamp.wish->fingerprint == catalog.fingerprint() &&
                          stamp.wish->wish.type < catalog.types().size();
    return is_known ? std::optional(catalog.say(stamp.wish->wish)) : std::nullopt;
  });
}

LocalReply unmet_response(const waiting::Unmet& unmet) {
  return problem(422, "Nothing Here Meets This", unmet.requirement, unmet.detail);
}

LocalReply malformed_ask(std::string_view detail) {
  return problem(400, "Not Understood", {}, detail);
}

}  // namespace spillway::proxy
