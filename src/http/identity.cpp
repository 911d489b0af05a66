#include "http/identity.hpp"

#include "http/ascii.hpp"

namespace spillway::http {

bool is_identity_field(std::string_view name) {
  for (const std::string_view prefix : {"X-Forwarded-", "Spillway-"}) {
    if (istarts_with(name, prefix)) return true;
  }
  for (const std::string_view other : {"X-Request-Id", "traceparent", "tracestate", "X-Api-Key",
                                       "X-Tenant", "X-Priority", "X-Real-IP"}) {
    if (iequals(name, other)) return true;
  }
  return false;
}

}  // namespace spillway::http
