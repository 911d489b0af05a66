// Asks the admin listener of a proxy that runs, over HTTP.
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

// http://HOST, http://HOST:PORT, with or without a slash behind it. nullopt for any other: there is
// no TLS here, and the admin listener has no prefix.
std::optional<AdminUrl> parse_admin_url(std::string_view text);

struct AdminReply {
  unsigned status = 0;  // 0: there is none, see problem
  std::string body;
  std::string problem;  // one sentence
};

class AdminClient {
 public:
  // `token`: empty for none.
  AdminClient(AdminUrl url, std::string token);

  // Block, for 30 s at most; a connection each.
  AdminReply get(const std::string& target) const;
  AdminReply post(const std::string& target, const std::string& json) const;
  AdminReply remove(const std::string& target) const;

 private:
  AdminUrl url_;
  std::string token_;
};

}  // namespace spillway
