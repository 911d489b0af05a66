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

constexpr std::string_view kPeer = "127.0.0.1";

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
               const config::Rule& rule) {
  auto& line = lines.add("rule");
  line << config::name(rule.strategy);
  if (rule.strategy == config::Strategy::deny || rule.strategy == config::Strategy::drop) {
    line << ", probability " << rule.probability << ", retry after " << rule.retry_after.count()
         << " ms";
  }
  const auto& overrides = config.routes[index(subject.route)].rules;
  const bool is_overridden = std::any_of(overrides.begin(), overrides.end(), [&](const auto& one) {
    return one.traffic_class == subject.traffic_class;
  });
  line << (is_overridden ? " (the class's rule as the route changes it)" : " (the class's rule)");
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

void tell_overloaded(Lines& lines, const config::Config& config, const traffic::Subject& subject,
                     const config::Rule& rule) {
  // A draw of zero is the one that a rule refuses if it ever refuses.
  const Verdict untrusted = overload::judge(rule, State::overloaded, Reason::tail_latency, 0);
  const Verdict full = overload::judge(rule, State::overloaded, Reason::inflight_saturation, 0);
  if (untrusted.kind == Verdict::Kind::allow) {
    lines.add("verdict") << name(untrusted.kind);
    lines.add("why") << (rule.probability == 0 ? "The rule's probability is 0: it never refuses."
                                               : "The rule lets this class pass while overloaded.");
    tell_hard_limits(lines, config, subject);
    return;
  }
  lines.add("verdict") << "depends on " << (rule.probability < 1 ? "the draw and on " : "")
                       << "the reason of the overload:";
  lines.add("") << "TAIL_LATENCY, EVENT_LOOP_LAG, ERROR_BURST: " << name(untrusted.kind) << " ("
                << refusal(rule, untrusted) << ")";
  lines.add("") << "INFLIGHT_SATURATION, QUEUE_SATURATION, QUEUE_WAIT_RISK: " << name(full.kind);
  if (rule.probability >= 1) {
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
                << config.upstreams[index(subject.upstream)].dispatch.target_wait.count() << " ms.";
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

  const traffic::Classifier classifier(config);
  const traffic::Peer peer = classifier.peer(*parse_ip_address(kPeer));
  const traffic::Subject subject = classifier.classify(head, peer, TimePoint{});
  const bool is_overloaded = request.state == name(State::overloaded);
  const auto plan = overload::build_plan(config, config.upstreams[index(subject.upstream)],
                                         is_overloaded ? State::overloaded : State::normal,
                                         is_overloaded ? Reason::tail_latency : Reason::none);
  const config::Rule& rule = plan.rule(subject.route, subject.traffic_class);

  Lines lines;
  lines.add("request") << request.method << " " << request.url;
  tell_subject(lines, config, subject);
  tell_rule(lines, config, subject, rule);
  lines.add("state") << name(plan.state())
                     << (is_overloaded ? "" : " (--at OVERLOADED: the other)");
  if (is_overloaded) {
    tell_overloaded(lines, config, subject, rule);
  } else {
    lines.add("verdict") << name(Verdict::Kind::allow);
    lines.add("why") << "Rules apply only while the upstream is overloaded.";
    tell_hard_limits(lines, config, subject);
  }
  return {true, lines.text()};
}

}  // namespace spillway
