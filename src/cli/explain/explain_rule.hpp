// Explains the overload rule of one request.
#pragma once

#include "base/state.hpp"
#include "cli/explain/explain_lines.hpp"
#include "config/config.hpp"
#include "http/message/head.hpp"
#include "traffic/classify/classify.hpp"

namespace spillway {

// A valid, classified request. Holds references.
struct RuledRequest {
  const config::Config& config;
  const http::RequestHead& head;
  const traffic::Classification& classification;
  const config::Rule& rule;  // the effective one
  State state;               // of its upstream

  const config::Route& route() const { return config.routes[index(classification.route)]; }
  const config::TrafficClass& traffic_class() const {
    return config.classes[index(classification.traffic_class)];
  }
  const config::Upstream& upstream() const {
    return config.upstreams[index(classification.upstream)];
  }
};

// The rule and its origin.
void tell_rule(ExplainedLines& lines, const RuledRequest& request);

// The limits of every state: queue length and longest wait.
void tell_hard_limits(ExplainedLines& lines, const RuledRequest& request);

// Verdict and reasons in a state other than NORMAL.
void tell_overloaded(ExplainedLines& lines, const RuledRequest& request);

}  // namespace spillway
