// In place of which refusals a request is deferred. The proxy and the simulator ask this one rule.
#pragma once

#include "base/outcome.hpp"
#include "base/reason.hpp"

namespace spillway::jobs {

struct DeferralTerms {
  bool include_limits = false;        // as in config::Defer
  bool has_clients_deadline = false;  // a later answer is of no use to this client
};

// A request of which nothing was sent is about to end like this: true, it is deferred instead. So
// are those for which room or a healthy server is wanting, and with `include_limits` those for
// which their caller has used up what it may take.
bool is_deferred_for(Reason reason, Outcome outcome, const DeferralTerms& terms);

}  // namespace spillway::jobs
