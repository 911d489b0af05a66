#include "bench/crowd/status.hpp"

#include <charconv>
#include <nlohmann/json.hpp>

#include <boost/beast/http/field.hpp>

namespace spillway::crowd {

std::optional<Status> parse_status(std::string_view text) {
  const auto json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return std::nullopt;
  const auto state = json.find("state");
  if (state == json.end() || !state->is_string()) return std::nullopt;
  Status status{.state = state->get<std::string>()};
  const auto remaining = json.find("claim_remaining_ms");
  if (remaining != json.end() && remaining->is_number_unsigned())
    status.claim_remaining = Milliseconds(remaining->get<std::int64_t>());
  return status;
}

std::string_view state_of_page(std::string_view html) {
  constexpr std::string_view kAttribute = "data-state=\"";
  const auto at = html.find(kAttribute);
  if (at == std::string_view::npos) return {};
  html.remove_prefix(at + kAttribute.size());
  return html.substr(0, html.find('"'));
}

std::optional<Duration> told_to_wait(const load::Response& response) {
  const std::string_view text = load::value(response, "Retry-After");
  unsigned seconds = 0;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, seconds);
  if (text.empty() || parsed.ec != std::errc() || parsed.ptr != end) return std::nullopt;
  return std::chrono::seconds(seconds);
}

std::optional<std::string> cookie_of(const load::Response& response, std::string_view name) {
  const auto [begin, end] = response.equal_range(boost::beast::http::field::set_cookie);
  for (auto field = begin; field != end; ++field) {
    std::string_view text(field->value().data(), field->value().size());
    if (!text.starts_with(name) || text.substr(name.size(), 1) != "=") continue;
    text.remove_prefix(name.size() + 1);
    return std::string(text.substr(0, text.find(';')));
  }
  return std::nullopt;
}

}  // namespace spillway::crowd
