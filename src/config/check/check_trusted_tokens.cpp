// Checks of trusted_tokens.
#include <string>

#include "config/check/checks.hpp"

namespace spillway::config {
namespace {

constexpr const char* kJwt = "$.trusted_tokens.jwt";

template <class Key>
void check_ids(const std::vector<Key>& keys, const std::string& path, Findings& findings) {
  for (std::size_t n = 0; n < keys.size(); ++n) {
    const std::string at = element(path, n) + ".kid";
    if (keys[n].kid.empty() && keys.size() > 1)
      findings.report(at, "several keys need ids by which tokens name them");
    for (std::size_t before = 0; before < n; ++before) {
      if (keys[n].kid.empty() || keys[n].kid != keys[before].kid) continue;
      findings.report(at, "the same as of " + element(path, before));
      break;
    }
  }
}

}  // namespace

void check_trusted_tokens(const Config& config, Findings& findings) {
  const TrustedTokens& tokens = config.trusted_tokens;
  if (tokens.jwt) {
    const std::string path = kJwt;
    check_ids(tokens.jwt->keys, path + ".keys", findings);
    if (!tokens.jwt->cookie.empty() && findings.is_given(path + ".header"))
      findings.report(path + ".cookie", "the token is in a cookie or in a field: give one of them",
                      path + ".header");
    if (tokens.cookie && tokens.jwt->cookie == tokens.cookie->name)
      findings.report(path + ".cookie", "the same as $.trusted_tokens.cookie.name",
                      "$.trusted_tokens.cookie.name");
  }
  if (tokens.cookie) check_ids(tokens.cookie->keys, "$.trusted_tokens.cookie.keys", findings);
}

}  // namespace spillway::config
