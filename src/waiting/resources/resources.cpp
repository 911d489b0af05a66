#include "waiting/resources/resources.hpp"

#include <algorithm>
#include <charconv>

namespace spillway::waiting {

namespace {

constexpr std::string_view kDuration = "duration_ms";
constexpr std::string_view kMaxWait = "max_wait_ms";
constexpr std::size_t kMostName = 64;

bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= kMostName && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == '-';
  });
}

std::optional<std::uint32_t> number_of(std::string_view text) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// false: malformed, or it repeats a name.
bool read_part(std::string_view part, Ask& ask) {
  const std::size_t equals = part.find('=');
  if (equals == std::string_view::npos) return false;
  const std::string_view name = part.substr(0, equals);
  const auto number = number_of(part.substr(equals + 1));
  if (!number || !is_name(name)) return false;
  if (name == kDuration || name == kMaxWait) {
    Milliseconds& time = name == kDuration ? ask.duration : ask.max_wait;
    if (time != Milliseconds(0) || *number == 0) return false;
    time = Milliseconds(*number);
    return true;
  }
  if (ask.sizes.size() == kMostSizes ||
      std::ranges::find(ask.sizes, name, &SizeNamed::name) != ask.sizes.end())
    return false;
  ask.sizes.push_back({std::string(name), *number});
  return true;
}

}  // namespace

std::string to_text(const Ask& ask) {
  std::string text = ask.type;
  const auto add = [&text](std::string_view name, auto value) {
    text.append(";").append(name).append("=").append(std::to_string(value));
  };
  for (const SizeNamed& size : ask.sizes) add(size.name, size.value);
  if (ask.duration != Milliseconds(0)) add(kDuration, ask.duration.count());
  if (ask.max_wait != Milliseconds(0)) add(kMaxWait, ask.max_wait.count());
  return text;
}

std::optional<Ask> parse_ask(std::string_view text) {
  Ask ask;
  if (text.empty()) return ask;
  if (text.size() > kMostAsk) return std::nullopt;
  const auto take = [&text] {
    const std::size_t end = std::min(text.find(';'), text.size());
    const std::string_view part = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return part;
  };
  const std::string_view type = take();
  if (!type.empty() && !is_name(type)) return std::nullopt;
  ask.type = type;
  while (!text.empty()) {
    if (!read_part(take(), ask)) return std::nullopt;
  }
  return ask;
}

}  // namespace spillway::waiting
