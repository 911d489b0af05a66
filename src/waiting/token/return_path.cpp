#include "waiting/token/return_path.hpp"

#include <algorithm>

namespace spillway::waiting {

std::string_view return_path(std::string_view referer, std::string_view host) {
  constexpr std::string_view kRoot = "/";
  for (const std::string_view scheme : {"https://", "http://"}) {
    if (!referer.starts_with(scheme)) continue;
    std::string_view rest = referer.substr(scheme.size());
    if (host.empty() || !rest.starts_with(host)) return kRoot;
    rest.remove_prefix(host.size());
    rest = rest.substr(0, rest.find('#'));
    const bool is_path = rest.starts_with('/') && !rest.starts_with("//");
    const bool is_plain = std::all_of(rest.begin(), rest.end(),
                                      [](char c) { return c > 0x20 && c < 0x7f && c != '\\'; });
    return is_path && is_plain ? rest : kRoot;
  }
  return kRoot;
}

}  // namespace spillway::waiting
