#include "crowd.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "base/random.hpp"
#include "site.hpp"

namespace spillway::micro {
namespace {

constexpr std::size_t kRequests = std::size_t{1} << 20;

TenantId tenant_of_rank(std::size_t rank) { return TenantId{Random(rank).next()}; }

}  // namespace

std::vector<TenantId> requests_of(std::size_t tenants, Crowd crowd) {
  Random random(1);
  std::vector<TenantId> made(kRequests);
  for (TenantId& each : made) {
    const double share = random.uniform();
    const double rank = crowd == Crowd::skewed
                            ? std::pow(static_cast<double>(tenants) + 1, share) - 1
                            : static_cast<double>(tenants) * share;
    each = tenant_of_rank(std::min(static_cast<std::size_t>(rank), tenants - 1));
  }
  return made;
}

std::unique_ptr<overload::TenantShard> shard_after(std::span<const TenantId> requests) {
  const config::Config config = site(1);
  const ClassId lowest{static_cast<std::uint8_t>(config.classes.size() - 1)};
  auto shard = std::make_unique<overload::TenantShard>(config);
  for (std::size_t i = 0; i < requests.size(); ++i) {
    shard->record_offered(lowest, requests[i], 1);
    if (i % 4 == 0) shard->record_admitted(lowest, 1);
  }
  shard->publish(TimePoint{} + std::chrono::hours(1));
  return shard;
}

Crowded& crowded(std::size_t tenants, Crowd crowd) {
  static std::optional<std::pair<std::size_t, Crowd>> present;
  static Crowded kept;
  if (const std::pair asked(tenants, crowd); present != asked) {
    kept.requests = requests_of(tenants, crowd);
    kept.shard = shard_after(kept.requests);
    present = asked;
  }
  return kept;
}

}  // namespace spillway::micro
