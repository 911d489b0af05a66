// The sections of an explanation, each in the source file named before it.
#pragma once

#include <sstream>
#include <string>
#include <string_view>

#include "base/state.hpp"
#include "config/config.hpp"
#include "http/message/head.hpp"
#include "overload/admission/decide.hpp"
#include "traffic/classify/classify.hpp"

namespace spillway {

// The lines of the explanation, each with a label.
class ExplainedLines {
 public:
  // Begins a line; an empty label continues the previous one.
  std::ostream& add(std::string_view label) {
    out_ << (out_.tellp() == 0 ? "" : "\n") << label;
    return out_ << std::string(kWidth - label.size(), ' ');
  }
  std::string text() const { return out_.str() + "\n"; }

 private:
  static constexpr std::size_t kWidth = 10;
  std::ostringstream out_;
};

// explain_request: the request's properties, and which of its fields are ignored.

// Deadline fields that are present but invalid.
void tell_ignored_deadlines(ExplainedLines& lines, const http::RequestHead& head,
                            const traffic::DeadlineFields& valid);

// Which visitor of its route's waiting room sent the request; nothing without a room.
void tell_visitor(ExplainedLines& lines, const config::Config& config,
                  const http::RequestHead& head, const traffic::Classifier& classifier,
                  const traffic::Peer& peer, const traffic::Classification& classification);

// The Upgrade field, if there is one.
void tell_upgrade(ExplainedLines& lines, const config::Config& config,
                  const http::RequestHead& head, const traffic::Classification& classification);

// explain_rule: the overload rule.

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

// explain_deferral: steps before the rule: a waiting room, a path that Spillway answers itself, and
// deferral.

// Whether Spillway itself answers the request: below own_path, for jobs and waiting rooms.
bool is_own_request(const config::Config& config, const http::RequestHead& head,
                    const traffic::Classification& classification);
void tell_own_request(ExplainedLines& lines, const config::Config& config);

// When visitors of the request's route wait; prints nothing for a route without a waiting room.
void tell_waiting_room(ExplainedLines& lines, const RuledRequest& request);

// Whether a request is deferred before it is tried, whatever the state of its upstream.
enum class Deferral { none, before_it_is_tried, in_place_of_refusals };
Deferral tell_deferral(ExplainedLines& lines, const RuledRequest& request);
// The verdict on a request that is deferred before it is tried.
void tell_deferred(ExplainedLines& lines, const RuledRequest& request);

// explain_answers: the route's cache and fallback.

// How the route's cache may answer this request, in any state; nothing without a cache.
void tell_cache(ExplainedLines& lines, const RuledRequest& request);

// What is tried before a refusal: nothing unless `degrading` (AdmissionPlan::degrading) is set.
void tell_instead_of_refusal(ExplainedLines& lines, const RuledRequest& request,
                             const config::Rule* degrading);

// Verdict and reasons of a degrade rule.
void tell_degraded(ExplainedLines& lines, const RuledRequest& request);

// explain_refusal: refusals, by the kind of overload reason.

// One request's verdicts by kind of reason; the first refuses.
struct Refusals {
  overload::Verdict untrusted;  // the upstream itself is slow or failing
  overload::Verdict full;       // slots or queues are full
};

// The verdict, one line for each kind of reason.
void tell_refusals(ExplainedLines& lines, const RuledRequest& request, const Refusals& refusals);

// How the rule treats free slots.
void tell_work_conserving(ExplainedLines& lines, const RuledRequest& request,
                          const Refusals& refusals);

// "503, retry after 1000 to 1500 ms or later, by turn"
std::string refusal_text(const config::Rule& rule, const overload::Verdict& verdict);

}  // namespace spillway
