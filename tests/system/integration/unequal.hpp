// Two tenants of P1 while its queue is full, one asking 20 times as often as the other.
#pragma once

#include <doctest/doctest.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "support/proxy_under_test.hpp"
#include "system/integration/overloaded.hpp"
#include "system/integration/refusal.hpp"

namespace spillway::support {

inline const nlohmann::json kKeys = {{{"tenant", "acme"}, {"key", "acme-secret-1"}},
                                     {{"tenant", "bee"}, {"key", "bee-secret-22"}}};
inline const std::string kAcme = "X-Api-Key: acme-secret-1\r\n";
inline const std::string kBee = "X-Api-Key: bee-secret-22\r\n";
inline const nlohmann::json kNamed = {{"tenant", "X-Tenant"}, {"priority", "X-Priority"}};

// What each of them is told: until the frequent one hears TENANT_SHARE, or for a while. The
// frequent one, with the fields `lines`, came first and took all 8 places; with fairness the rare
// one got half of them.
struct Unequal {
  using Lines = std::function<std::string(int)>;

  explicit Unequal(
      bool fairness, Lines lines = [](int) { return kAcme; }, nlohmann::json changes = {})
      : proxy(Crowd::settings(backend.peer.address(), with_tenants(fairness, std::move(changes)))),
        crowd(backend, proxy),
        of_frequent(std::move(lines)) {
    for (int n = 1; n <= 8; ++n) {
      queued.emplace_back(proxy.port()).send(get("/p1", of_frequent(-n)));
      REQUIRE(proxy.metric_becomes(R"(spillway_queue_depth{upstream="app",class="P1"})", n));
    }
    for (int n = 0; n < 4 && fairness; ++n) {
      queued_rare.emplace_back(proxy.port()).send(get("/p1", kBee));
      check_refusal(queued.back().read_response(), 503, "P1", "EVICTED");
      queued.pop_back();
    }
  }

  static nlohmann::json with_tenants(bool fairness, nlohmann::json changes) {
    changes["tenants"] = {{"api_keys", kKeys}, {"fairness", fairness}};
    changes["trusted_headers"] = kNamed;
    return changes;
  }

  void ask(Milliseconds within = kPatience) {
    RawClient frequent(proxy.port()), rare(proxy.port());
    const Deadline deadline(within);
    while (!of_frequent_client.contains("TENANT_SHARE") && !deadline.passed()) {
      for (int n = 0; n < 20; ++n) {
        const Message answer = frequent.ask(get("/p1", of_frequent(n)));
        const std::string reason = reason_of(answer);
        check_refusal(answer, reason == "TENANT_SHARE" ? 429 : 503, "P1", reason);
        of_frequent_client.insert(reason);
      }
      of_rare_client.insert(reason_of(rare.ask(get("/p1", kBee))));
    }
  }

  nlohmann::json above_share() const {
    return proxy.state()["upstreams"][0]["tenants_above_share"];
  }

  Backend backend;
  ProxyUnderTest proxy;
  Crowd crowd;
  Lines of_frequent;
  std::vector<RawClient> queued, queued_rare;
  std::set<std::string> of_frequent_client, of_rare_client;
};

}  // namespace spillway::support
