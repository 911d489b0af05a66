// What `spillway jobs` and `spillway rooms` have in common: whom they ask, and what they make of an
// answer.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "cli/admin/admin_client.hpp"

namespace spillway {

struct AdminOptions {
  std::string admin = "http://127.0.0.1:9090";
  std::string token_file;  // empty: no token
  bool json = false;       // print the answer as it came
};

enum class AdminOutcome : std::uint8_t { done, failed, bad_usage };

class AdminDesk {
 public:
  // nullopt, and a sentence on `err`: bad usage.
  static std::optional<AdminDesk> open(const AdminOptions& options, std::ostream& err);

  const AdminClient& client() const { return client_; }
  // The answer's body; nullopt, and a sentence on `err`, if it is no success: see failed().
  std::optional<nlohmann::json> understood(const AdminReply& reply);
  AdminOutcome failed() const { return outcome_; }

 private:
  AdminDesk(AdminClient client, std::ostream& err) : client_(std::move(client)), err_(err) {}

  AdminClient client_;
  std::ostream& err_;
  AdminOutcome outcome_ = AdminOutcome::failed;
};

}  // namespace spillway
