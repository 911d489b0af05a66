// Visitors that never wait in a waiting room (config::WaitingBypass).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/ip_address.hpp"
#include "config/config.hpp"
#include "traffic/route/pattern.hpp"

namespace spillway::traffic {

class WaitingBypass {
 public:
  // Throws std::invalid_argument on an invalid block or pattern; the configuration checks them.
  explicit WaitingBypass(const config::WaitingBypass& settings);

  bool is_empty() const { return clients_.empty() && patterns_.empty() && tiers_.empty(); }

  bool has_tiers() const { return !tiers_.empty(); }

  bool has_client(const IpAddress& client) const;
  // The tier is verified (Classifier::waiting_tier); an empty one never matches.
  bool has_tier(std::string_view tier) const;
  // Whether all readings of the path (path.hpp) match the patterns. False for an ambiguous path and
  // for one with escapes that are not UTF-8: a backend may see another path.
  bool has_path(std::string_view path_and_query) const;

 private:
  bool matches(std::string_view reading) const;

  std::vector<IpBlock> clients_;
  std::vector<Pattern> patterns_;
  std::vector<std::string> tiers_;
};

}  // namespace spillway::traffic
