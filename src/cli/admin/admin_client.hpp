// An HTTP client for the admin listener of a running proxy.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace spillway {

struct AdminUrl {
  std::string host;  // an IPv6 address without its brackets
  std::string port;
  std::string authority;  // for the Host field
};

// http://HOST or http://HOST:PORT, with or without a trailing slash. nullopt for anything else:
// there is no TLS here, and the admin listener has no path prefix.
std::optional<AdminUrl> parse_admin_url(std::string_view text);

struct AdminReply {
  unsigned status = 0;  // 0: no response, see problem
  std::string body;
  std::string problem;  // one sentence
};

class AdminClient {
 public:
  // `token`: empty if none.
  AdminClient(AdminUrl url, std::string token);

  // Both block for at most 30 s, and use a connection each.
  AdminReply get(const std::string& target) const;
  AdminReply post(const std::string& target, const std::string& json) const;
  AdminReply remove(const std::string& target) const;

 private:
  AdminUrl url_;
  std::string token_;
};

}  // namespace spillway
