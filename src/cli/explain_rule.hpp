// What its rule makes of one request while the upstream is overloaded, in words.
#pragma once

#include "base/state.hpp"
#include "cli/explain_lines.hpp"
#include "config/config.hpp"
#include "http/head.hpp"
#include "traffic/classify.hpp"

namespace spillway {

// A request that has been understood. All are references: as long-lived as what they name.
struct RuledRequest {
  const config::Config& config;
  const http::RequestHead& head;
  const traffic::Subject& subject;
  const config::Rule& rule;  // the effective one
  State state;               // of its upstream

  const config::Route& route() const { return config.routes[index(subject.route)]; }
  const config::TrafficClass& traffic_class() const {
    return config.classes[index(subject.traffic_class)];
  }
  const config::Upstream& upstream() const { return config.upstreams[index(subject.upstream)]; }
};

// The rule, and where it comes from.
void tell_rule(ExplainedLines& lines, const RuledRequest& request);

// What holds in every state: the queue is bounded and nobody waits in vain.
void tell_hard_limits(ExplainedLines& lines, const RuledRequest& request);

// Verdict and reasons. Not for NORMAL.
void tell_overloaded(ExplainedLines& lines, const RuledRequest& request);

}  // namespace spillway
