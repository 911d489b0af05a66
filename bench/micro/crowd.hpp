// A worker's accounts of any number of tenants, and the requests that made them.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "base/ids.hpp"
#include "base/time.hpp"
#include "overload/signals/tenant_shard.hpp"

namespace spillway::micro {

// `skewed` as in Zipf's law with exponent 1: each tenant has about as many requests as all those
// in the next doubling of ranks have each on average; else all alike, the worst case for finding
// heavy ones.
enum class Crowd { skewed, uniform };

// The tenant of each of a million requests.
std::vector<TenantId> requests_of(std::size_t tenants, Crowd crowd);

// What a worker of a default configuration counted of these requests, all of the lowest class and
// one in four of them admitted, as its sweep published it.
std::unique_ptr<overload::TenantShard> shard_after(std::span<const TenantId> requests);

struct Crowded {
  std::vector<TenantId> requests;
  std::unique_ptr<overload::TenantShard> shard;  // after these
};

// Both, kept until others are asked for: they take longer to make than to measure.
Crowded& crowded(std::size_t tenants, Crowd crowd);

}  // namespace spillway::micro
