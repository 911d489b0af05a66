// Code shared by `spillway jobs` and `spillway rooms`: the admin listener to ask, and how to handle
// its replies.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <string>
#include <utility>

#include "cli/admin/admin_client.hpp"

namespace spillway {

struct AdminOptions {
  std::string admin = "http://127.0.0.1:9090";
  std::string token_file;  // empty: no token
  bool json = false;       // print the reply's body unchanged
};

enum class AdminOutcome : std::uint8_t { done, failed, bad_usage };

class AdminDesk {
 public:
  // nullopt, and a sentence on `err`, for bad usage.
  static std::optional<AdminDesk> open(const AdminOptions& options, std::ostream& err);

  const AdminClient& client() const { return client_; }
  // The reply's body; nullopt, and a sentence on `err`, if it is not a success: see failed().
  std::optional<nlohmann::json> understood(const AdminReply& reply);
  AdminOutcome failed() const { return outcome_; }
  // Prints the reply on `out`: unchanged with --json, otherwise with print(body).
  template <class Print>
  AdminOutcome print(std::ostream& out, const AdminReply& reply, Print print) {
    const std::optional<nlohmann::json> body = understood(reply);
    if (!body) return failed();
    if (prints_as_it_came_)
      out << reply.body;
    else
      print(*body);
    return AdminOutcome::done;
  }
  // Bytes that are not UTF-8 are sent as U+FFFD.
  AdminReply post(const std::string& path, const nlohmann::json& body) const;

 private:
  AdminDesk(AdminClient client, bool prints_as_it_came, std::ostream& err)
      : client_(std::move(client)), prints_as_it_came_(prints_as_it_came), err_(err) {}

  AdminClient client_;
  bool prints_as_it_came_;
  std::ostream& err_;
  AdminOutcome outcome_ = AdminOutcome::failed;
};

}  // namespace spillway
