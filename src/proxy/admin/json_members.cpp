#include "proxy/admin/json_members.hpp"

#include "http/field/ascii.hpp"

namespace spillway::proxy {

namespace {

using nlohmann::json;

constexpr std::size_t kShownMember = 64;  // bytes of its name

}  // namespace

std::variant<json, std::string> read_members(std::string_view body) {
  // To find duplicate names, counts the members while parsing.
  std::size_t members = 0;
  const auto count = [&](int depth, json::parse_event_t event, json&) {
    if (depth == 1 && event == json::parse_event_t::key) ++members;
    return true;
  };
  json document = json::parse(body, count, false);
  if (document.is_discarded()) return std::string("the body is not JSON");
  if (!document.is_object()) return std::string("the body is not a JSON object");
  if (members != document.size()) return std::string("a member is given twice");
  return document;
}

bool is_blank(std::string_view body) {
  return http::trim(body).empty() || json::parse(body, nullptr, false) == json::object();
}

std::optional<std::int64_t> whole(const json& value, std::int64_t least, std::int64_t most) {
  if (!value.is_number_integer()) return std::nullopt;
  if (value.is_number_unsigned() && value.get<std::uint64_t>() > static_cast<std::uint64_t>(most))
    return std::nullopt;
  const auto number = value.get<std::int64_t>();
  return number < least || number > most ? std::nullopt : std::optional(number);
}

std::string in_quotes(std::string_view name) {
  return "\"" + std::string(name.substr(0, kShownMember)) + "\"";
}

std::string unknown_member(std::string_view name) { return in_quotes(name) + " is not known here"; }

}  // namespace spillway::proxy
