#include "contender.hpp"

namespace spillway::demo {
namespace {

std::optional<load::Endpoint> loopback(std::string_view url) {
  const auto endpoint = load::parse_endpoint(url);
  return endpoint && endpoint->address().is_loopback() ? endpoint : std::nullopt;
}

}  // namespace

std::optional<Contender> parse_contender(std::string_view text) {
  const auto equals = text.find('=');
  if (equals == 0 || equals == std::string_view::npos) return std::nullopt;
  const std::string_view urls = text.substr(equals + 1);
  const auto comma = urls.find(',');
  const auto target = loopback(urls.substr(0, comma));
  if (!target) return std::nullopt;
  Contender contender{std::string(text.substr(0, equals)), *target, std::nullopt};
  if (comma != std::string_view::npos) {
    contender.admin = loopback(urls.substr(comma + 1));
    if (!contender.admin) return std::nullopt;
  }
  return contender;
}

}  // namespace spillway::demo
