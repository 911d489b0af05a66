#include "explain.hpp"

#include <algorithm>
#include <cctype>
#include <sstream>

#include "base/ip_address.hpp"
#include "config/choices.hpp"
#include "http/framing.hpp"
#include "http/head.hpp"
#include "overload/decide.hpp"
#include "overload/plan.hpp"
#include "traffic/classify.hpp"

namespace spillway {
namespace {

using overload::State;
using overload::Verdict;

// The head as a client would send it; empty when an argument would break out of its line.
std::string head_of(const ExplainedRequest& request) {
  const auto is_line = [](std::string_view text) {
    return std::none_of(text.begin(), text.end(),
                        [](unsigned char c) { return c < ' ' && c != '\t'; });
  };
  const auto is_host = [](std::string_view field) {
    constexpr std::string_view host = "host:";
    return field.size() >= host.size() &&
           std::equal(host.begin(), host.end(), field.begin(),
                      [](char expected, unsigned char c) { return std::tolower(c) == expected; });
  };
  if (!is_line(request.method) || !is_line(request.url)) return {};
  std::string out = request.method + " " + request.url + " HTTP/1.1\r\n";
  if (std::none_of(request.headers.begin(), request.headers.end(), is_host)) {
    out += "Host: localhost\r\n";
  }
  for (const std::string& field : request.headers) {
    if (field.empty() || !is_line(field)) return {};
    out += field + "\r\n";
  }
  return out + "\r\n";
}

class Lines {
 public:
  std::ostream& add(std::string_view label) {
    out_ << (out_.tellp() == 0 ? "" : "\n") << label;
    return out_ << std::string(kWidth - label.size(), ' ');
  }
  std::string text() const { return out_.str() + "\n"; }

 private:
  static constexpr std::size_t kWidth = 10;
  std::ostringstream out_;
};

std::string text_of(const config::Match& match) {
  std::string out;
  for (const std::string& method : match.methods) out += (out.empty() ? "" : ",") + method;
  return (out.empty() ? "any method" : out) + " " + match.host + match.path;
}

void tell_subject(Lines& lines, const config::Config& config, const traffic::Subject& subject) {
  const config::Route& route = config.routes[index(subject.route)];
  const bool is_default = index(subject.route) + 1 == config.routes.size();
  lines.add("route") << route.name << (is_default ? " (no other route matches)" : ": ")
                     << (is_default ? "" : text_of(route.match));

  const config::TrafficClass& its_class = config.classes[index(subject.traffic_class)];
  auto& class_line = lines.add("class");
  class_line << its_class.name << ", number " << index(subject.traffic_class) + 1 << " of "
             << config.classes.size() << " by priority";
  if (subject.trusted_priority) {
    class_line << ", from the priority " << *subject.trusted_priority << " that "
               << config.trusted_headers.priority << " gives it";
  } else if (route.priority) {
    class_line << ", from the route's priority " << *route.priority;
  }

  const config::Upstream& upstream = config.upstreams[index(subject.upstream)];
  auto& upstream_line = lines.add("upstream");
  upstream_line << upstream.name << ", " << upstream.dispatch.concurrency << " slots:";
  for (const std::string& server : upstream.servers) upstream_line << ' ' << server;

  lines.add("tenant") << config::name(subject.tenant.source) << " " << subject.tenant.value();
  lines.add("deadline") << to_milliseconds(subject.deadline - TimePoint{}) << " ms after arrival";
}

void tell_rule(Lines& lines, const config::Config& config, const traffic::Subject& subject,
               const config::Rule& rule, State state) {
  auto& line = lines.add("rule");
  line << config::name(rule.strategy);
  if (rule.strategy == config::Strategy::deny || rule.strategy == config::Strategy::drop) {
    line << ", probability " << rule.probability << ", retry after " << rule.retry_after.count()
         << " ms";
  }
  if (rule.strategy == config::Strategy::degrade) {
    line << ", mode " << config::name(rule.mode) << ", on a miss "
         << config::name(config::miss_of(rule));
  }
  if (rule.budget)
    line << ", budget " << rule.budget->rate << " a second, " << rule.budget->burst << " at once";
  const auto& overrides = config.routes[index(subject.route)].rules;
  const bool is_overridden = std::any_of(overrides.begin(), overrides.end(), [&](const auto& one) {
    return one.traffic_class == subject.traffic_class;
  });
  const auto& stages = config.upstreams[index(subject.upstream)].overload.stages;
  const bool is_staged = std::any_of(stages.begin(), stages.end(), [&](const auto& stage) {
    return stage.name <= state &&
           std::any_of(stage.rules.begin(), stage.rules.end(),
                       [&](const auto& one) { return one.traffic_class == subject.traffic_class; });
  });
  line << " (the class's rule";
  if (is_staged) line << " as the stages up to " << name(state) << " change it";
  if (is_overridden && state != State::elevated)
    line << (is_staged ? ", and the route" : " as the route changes it");
  line << ")";
}

// What holds in every state: the queue is bounded and nobody waits in vain.
void tell_hard_limits(Lines& lines, const config::Config& config, const traffic::Subject& subject) {
  const config::TrafficClass& its_class = config.classes[index(subject.traffic_class)];
  const auto late = config.upstreams[index(subject.upstream)].dispatch.late;
  const auto max_wait = its_class.max_wait.count();
  if (late == config::Late::process_with_tag) {
    lines.add("") << "It takes a free slot or waits for one, tagged as late after " << max_wait
                  << " ms or its deadline.";
    lines.add("") << "It is refused only when its queue (" << its_class.max_queue
                  << " places) is full and no lower class gives up a place.";
    return;
  }
  lines.add("") << "It takes a free slot, or waits up to " << max_wait
                << " ms or its deadline for one. It is refused when its queue";
  lines.add("") << "(" << its_class.max_queue << " places) is full and no lower class gives up a "
                << "place, or when its class has a waiter already";
  lines.add("") << "and the predicted wait is longer than that.";
}

std::string refusal(const config::Rule& rule, const Verdict& verdict) {
  if (verdict.kind == Verdict::Kind::drop || verdict.refuse_silently) {
    return "closed without an answer";
  }
  const auto wait = rule.retry_after.count();
  return "503, retry after " + std::to_string(wait) + " to " + std::to_string(wait + wait / 2) +
         " ms";
}

// With the draw of zero, which a rule refuses if it ever refuses. Nothing is stored to answer from.
Verdict worst(const config::Rule& rule, State state, Reason reason) {
  const Verdict verdict = overload::judge(rule, state, reason, 0);
  if (verdict.kind != Verdict::Kind::degrade ||
      verdict.mode == config::DegradeMode::skip_downstream)
    return verdict;
  return overload::on_miss(verdict);
}

void tell_why_refused(Lines& lines, const config::Dispatch& dispatch, const config::Rule& rule,
                      const Verdict& full) {
  if (rule.strategy == config::Strategy::degrade) {
    lines.add("why")
        << "The rule degrades, there is no stored answer yet, and it denies on a miss.";
  } else if (rule.probability >= 1) {
    lines.add("why") << "The rule refuses every request: its probability is 1.";
  } else {
    lines.add("why") << "One number is drawn from [0, 1) for each request: below "
                     << rule.probability << " the rule refuses (" << rule.probability * 100
                     << " % of them),";
    lines.add("") << "otherwise the request is allowed as in NORMAL.";
  }
  lines.add("") << "For the first reasons the upstream itself is not to be trusted: free slots "
                << "change nothing.";
  lines.add("") << "For the others no slot is left idle: refused (" << refusal(rule, full)
                << ") only when no slot";
  lines.add("") << "is free, its class has a waiter already and the predicted wait passes "
                << dispatch.target_wait.count() << " ms.";
}

void tell_own_fault(Lines& lines, const config::Config& config, const config::Rule& rule,
                    State state) {
  const bool refuses =
      rule.strategy == config::Strategy::deny || rule.strategy == config::Strategy::drop;
  if (rule.budget) {
    lines.add("budget") << "Whatever the rule lets through takes a token; without one: 429 "
                        << "BUDGET_EXCEEDED.";
  }
  if (config.tenants.fairness && (refuses || state != State::elevated)) {
    lines.add("fairness") << "If its tenant asks for more than its fair share of the class, that "
                          << "part goes first" << (refuses ? "" : " when there is no room")
                          << ": 429 TENANT_SHARE.";
  }
}

void tell_overloaded(Lines& lines, const config::Config& config, const traffic::Subject& subject,
                     const config::Rule& rule, State state) {
  const Verdict untrusted = worst(rule, state, Reason::tail_latency);
  const Verdict full = worst(rule, state, Reason::inflight_saturation);
  if (untrusted.kind == Verdict::Kind::allow || untrusted.kind == Verdict::Kind::degrade) {
    lines.add("verdict") << name(untrusted.kind);
    auto& why = lines.add("why");
    if (untrusted.kind == Verdict::Kind::degrade) {
      why << "It is forwarded with Spillway-Degrade: skip-downstream, for the backend to leave out "
          << "its expensive part.";
    } else if (rule.strategy == config::Strategy::degrade) {
      why << "The rule degrades, there is no stored answer yet, and it forwards on a miss.";
    } else {
      why << (rule.probability == 0 ? "The rule's probability is 0: it never refuses."
                                    : "The rule lets this class pass in this state.");
    }
    tell_hard_limits(lines, config, subject);
  } else {
    lines.add("verdict") << "depends on " << (rule.probability < 1 ? "the draw and on " : "")
                         << "the reason of the overload:";
    lines.add("") << "TAIL_LATENCY, EVENT_LOOP_LAG, ERROR_BURST: " << name(untrusted.kind) << " ("
                  << refusal(rule, untrusted) << ")";
    lines.add("") << "INFLIGHT_SATURATION, QUEUE_SATURATION, QUEUE_WAIT_RISK: " << name(full.kind);
    tell_why_refused(lines, config.upstreams[index(subject.upstream)].dispatch, rule, full);
  }
  tell_own_fault(lines, config, rule, state);
}

// The states that an upstream can be in, for a person.
std::string states_of(const config::Overload& overload) {
  std::string out(name(State::normal));
  for (const config::Stage& stage : overload.stages) out += ", " + std::string(name(stage.name));
  if (overload.stages.empty()) out += ", " + std::string(name(State::overloaded));
  return out;
}

bool can_be(const config::Overload& overload, State state) {
  return states_of(overload).find(name(state)) != std::string::npos;
}

}  // namespace

Explanation explain(const config::Config& config, const ExplainedRequest& request) {
  const std::string bytes = head_of(request);
  if (bytes.empty()) return {false, "error: a control character or an empty header field\n"};
  http::RequestHead head;
  http::Error error = parse_request(bytes, head);
  if (error == http::Error::none) error = request_framing(head);
  if (error != http::Error::none) {
    return {false, "error: this request is answered " + std::to_string(status_of(error)) + ": " +
                       std::string(describe(error)) + "\n"};
  }

  const auto address = parse_ip_address(request.peer);
  if (!address) return {false, "error: not an IP address: " + request.peer + "\n"};
  const traffic::Classifier classifier(config);
  const traffic::Peer peer = classifier.peer(*address);
  const traffic::Subject subject = classifier.classify(head, peer, TimePoint{});
  const config::Upstream& upstream = config.upstreams[index(subject.upstream)];
  if (!can_be(upstream.overload, request.state)) {
    return {false, "error: upstream " + upstream.name + " is never " +
                       std::string(name(request.state)) + ": its states are " +
                       states_of(upstream.overload) + "\n"};
  }
  const auto plan =
      overload::build_plan(config, upstream, request.state,
                           request.state == State::normal ? Reason::none : Reason::tail_latency);
  const config::Rule& rule = plan.rule(subject.route, subject.traffic_class);

  Lines lines;
  lines.add("request") << request.method << " " << request.url;
  tell_subject(lines, config, subject);
  tell_rule(lines, config, subject, rule, request.state);
  lines.add("state") << name(plan.state()) << " (of " << states_of(upstream.overload) << ")";
  if (request.state == State::normal) {
    lines.add("verdict") << name(Verdict::Kind::allow);
    lines.add("why") << "Rules apply only while the upstream is overloaded.";
    tell_hard_limits(lines, config, subject);
  } else {
    tell_overloaded(lines, config, subject, rule, request.state);
  }
  if (upstream.overload.mode == config::Mode::shadow)
    lines.add("mode") << "shadow: whatever the verdict, it is only counted and logged, and the "
                      << "request is forwarded.";
  return {true, lines.text()};
}

}  // namespace spillway
