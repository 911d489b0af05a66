// Checks of tenants.api_keys.
#include <cstddef>
#include <string>
#include <unordered_map>

#include "config/check/checks.hpp"
#include "config/named_tenants.hpp"
#include "config/problem.hpp"

namespace spillway::config {
namespace {

constexpr const char* kKeys = "$.tenants.api_keys";

class TenantCheck {
 public:
  TenantCheck(const std::vector<ApiKey>& keys, Findings& findings)
      : keys_(keys), findings_(findings) {}

  void check() {
    std::unordered_map<Sha256, std::size_t, HashOfSha256> first_of_key;
    std::unordered_map<std::string, Said> said;
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      check_one_of(i, "name", "tenant");
      check_one_of(i, "sha256", "key");
      if (const auto digest = digest_of(keys_[i])) {
        const auto [at, is_new] = first_of_key.emplace(*digest, i);
        if (!is_new)
          findings_.report(path(i, keys_[i].sha256 ? "sha256" : "key"),
                           "the same key as " + element(kKeys, at->second));
      }
      check_tier(i, said[tenant_of(keys_[i])]);
    }
  }

 private:
  // For each of a tenant's tier settings, the key that set it first.
  struct Said {
    std::optional<std::size_t> traffic_class, weight, tier, budget;
  };

  static std::string path(std::size_t i, const char* key) { return element(kKeys, i) + "." + key; }

  void check_one_of(std::size_t i, const char* one, const char* other) {
    const bool has_one = findings_.is_given(path(i, one));
    const bool has_other = findings_.is_given(path(i, other));
    if (has_one && has_other) {
      findings_.report(path(i, other), std::string(one) + " and " + other +
                                           " exclude one another: give one of them");
    } else if (!has_one && !has_other) {
      findings_.report(path(i, one), std::string("missing: this key is required, or ") + other,
                       element(kKeys, i));
    }
  }

  void check_tier(std::size_t i, Said& said) {
    agree(i, "class", &ApiKey::traffic_class, said.traffic_class);
    agree(i, "weight", &ApiKey::weight, said.weight);
    agree(i, "tier", &ApiKey::tier, said.tier);
    agree(i, "budget", &ApiKey::budget, said.budget);
  }

  template <class T>
  void agree(std::size_t i, const char* key, std::optional<T> ApiKey::*member,
             std::optional<std::size_t>& first) {
    if (!(keys_[i].*member)) return;
    if (!first) first = i;
    if (keys_[i].*member == keys_[*first].*member) return;
    findings_.report(path(i, key), "not the same as in " + element(kKeys, *first) +
                                       ", another key of this tenant: give it once");
  }

  const std::vector<ApiKey>& keys_;
  Findings& findings_;
};

}  // namespace

void check_tenants(const Config& config, Findings& findings) {
  TenantCheck(config.tenants.api_keys, findings).check();
}

}  // namespace spillway::config
