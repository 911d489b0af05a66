#include "cli/explain/explain.hpp"

#include <algorithm>
#include <cctype>
#include <chrono>

#include "base/ip_address.hpp"
#include "cli/explain/explain_sections.hpp"
#include "config/choices.hpp"
#include "http/message/framing.hpp"
#include "http/message/head.hpp"
#include "overload/admission/decide.hpp"
#include "overload/admission/plan.hpp"
#include "traffic/classify/classify.hpp"

namespace spillway {
namespace {

// The head as a client would send it; empty if an argument contains control characters.
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

std::string text_of(const config::Match& match) {
  std::string out;
  for (const std::string& method : match.methods) out += (out.empty() ? "" : ",") + method;
  return (out.empty() ? "any method" : out) + " " + match.host + match.path;
}

void tell_classification(ExplainedLines& lines, const config::Config& config,
                         const traffic::Classifier& classifier,
                         const traffic::Classification& classification) {
  const config::Route& route = config.routes[index(classification.route)];
  const bool is_default = index(classification.route) + 1 == config.routes.size();
  lines.add("route") << route.name << (is_default ? " (no other route matches)" : ": ")
                     << (is_default ? "" : text_of(route.match));

  const config::TrafficClass& its_class = config.classes[index(classification.traffic_class)];
  auto& class_line = lines.add("class");
  class_line << its_class.name << ", number " << index(classification.traffic_class) + 1 << " of "
             << config.classes.size() << " by priority";
  if (classification.trusted_priority) {
    class_line << ", from the priority " << *classification.trusted_priority << " that "
               << config.trusted_headers.priority << " gives it";
  } else if (classification.tenant.tier->traffic_class) {
    class_line << ", that of its tenant";
  } else if (route.priority) {
    class_line << ", from the route's priority " << *route.priority;
  }
  if (classifier.goes_by_cost(classification))
    class_line << ", until the cost of the route's requests is learned (priority_by_cost)";

  const config::Upstream& upstream = config.upstreams[index(classification.upstream)];
  auto& upstream_line = lines.add("upstream");
  const config::Concurrency& slots = upstream.dispatch.concurrency;
  upstream_line << upstream.name << ", " << (slots.search ? "up to " : "") << slots.most << " slots"
                << (slots.search ? " (dispatch.concurrency.max):" : ":");
  for (const std::string& server : upstream.servers) upstream_line << ' ' << server;
  if (upstream.servers.size() > 1) upstream_line << " by " << config::name(upstream.balance);

  auto& tenant_line = lines.add("tenant");
  tenant_line << config::name(classification.tenant.source) << " " << classification.tenant.value();
  const config::Tier& tier = *classification.tenant.tier;
  if (tier.weight != 1) tenant_line << ", weight " << tier.weight;
  if (tier.budget)
    tenant_line << ", rate limit " << tier.budget->rate << " a second, " << tier.budget->burst
                << " at once: beyond it 429 BUDGET_EXCEEDED";
}

// Prints nothing if the request can only belong to one route.
void tell_readings(ExplainedLines& lines, const traffic::Classification& classification) {
  if (classification.has_conflicting_path) {
    lines.add("path") << "ambiguous: a backend may take it for another route's; the lowest class "
                      << "counts, and nothing is stored";
  } else if (classification.has_ambiguous_path) {
    lines.add("path") << "ambiguous: nothing is stored, but every reading is this route's";
  }
  if (classification.is_also_get)
    lines.add("method") << "HEAD: a GET has another route; a waiting room of either and the lower "
                        << "class count";
  if (classification.has_capitals)
    lines.add("path")
        << "in small letters it is another route's, and a backend may ignore capitals: "
        << "the lower class counts, and that route's waiting room";
}

// Prints the deadlines and their sources. The request arrived at TimePoint{}.
void tell_deadline(ExplainedLines& lines, const config::Config& config,
                   const traffic::Classification& classification) {
  const TimePoint slot = classification.wait_until(Duration{0});
  const TimePoint answer = classification.response_deadline(Duration{0});
  const auto setter = [&](TimePoint at) -> std::string {
    if (at == classification.client.at) return "its client";
    return classification.has_route_deadline ? "the route's deadline_ms" : "the class's sla_ms";
  };
  const auto after_arrival = [](TimePoint at) { return to_milliseconds(at - TimePoint{}); };
  auto& line = lines.add("deadline");
  line << after_arrival(slot) << " ms after arrival for a slot, set by " << setter(slot);
  if (config.upstreams[index(classification.upstream)].dispatch.late ==
      config::Late::process_with_tag) {
    line << "; late requests are tagged";
  } else if (answer != kNever) {
    line << "; " << after_arrival(answer) << " ms for the response head";
    if (answer != slot) line << ", set by " << setter(answer);
  }
}

// The states that an upstream can be in, as text.
std::string states_of(const config::Overload& overload) {
  std::string out(name(State::normal));
  for (const config::Stage& stage : overload.stages) out += ", " + std::string(name(stage.name));
  if (overload.stages.empty()) out += ", " + std::string(name(State::overloaded));
  return out;
}

bool can_be(const config::Overload& overload, State state) {
  return states_of(overload).find(name(state)) != std::string::npos;
}

void tell_verdict(ExplainedLines& lines, const RuledRequest& ruled,
                  const overload::AdmissionPlan& plan) {
  const Deferral deferral = tell_deferral(lines, ruled);
  tell_rule(lines, ruled);
  tell_cache(lines, ruled);
  lines.add("state") << name(plan.state()) << " (of " << states_of(ruled.upstream().overload)
                     << ")";
  if (deferral == Deferral::before_it_is_tried) return tell_deferred(lines, ruled);
  if (ruled.state == State::normal) {
    lines.add("verdict") << name(overload::Verdict::Kind::allow);
    lines.add("why") << "Rules apply only while the upstream is overloaded.";
    tell_hard_limits(lines, ruled);
  } else {
    tell_overloaded(lines, ruled);
  }
  tell_instead_of_refusal(
      lines, ruled, plan.degrading(ruled.classification.route, ruled.classification.traffic_class));
}

Explanation refused(http::Error error) {
  return {false, "error: this request is answered " + std::to_string(status_of(error)) + ": " +
                     std::string(describe(error)) + "\n"};
}

}  // namespace

Explanation explain(const config::Config& config, const ExplainedRequest& request) {
  const std::string bytes = head_of(request);
  if (bytes.empty()) return {false, "error: a control character or an empty header field\n"};
  http::RequestHead head;
  http::Error error = parse_request(bytes, head);
  if (error == http::Error::none) error = request_framing(head);
  if (error != http::Error::none) return refused(error);

  const auto address = parse_ip_address(request.peer);
  if (!address) return {false, "error: not an IP address: " + request.peer + "\n"};
  const traffic::Classifier classifier(config);
  const traffic::Peer peer = classifier.peer(*address);
  traffic::Classification classification = classifier.classify(head, peer, TimePoint{});
  classification.client = traffic::client_deadline(traffic::deadline_fields(head.fields),
                                                   TimePoint{}, std::chrono::system_clock::now());
  if (classification.may_pass_by_waiting_room ||
      (classification.has_conflicting_path &&
       config.ambiguous_paths == config::AmbiguousPaths::reject))
    return refused(http::Error::ambiguous_path);
  if (classification.has_unclear_sender) return refused(http::Error::repeated_field);
  const config::Upstream& upstream = config.upstreams[index(classification.upstream)];
  if (!can_be(upstream.overload, request.state)) {
    return {false, "error: upstream " + upstream.name + " is never " +
                       std::string(name(request.state)) + ": its states are " +
                       states_of(upstream.overload) + "\n"};
  }
  const auto plan =
      overload::build_plan(config, upstream, request.state,
                           request.state == State::normal ? Reason::none : Reason::tail_latency);
  const config::Rule& rule = plan.rule(classification.route, classification.traffic_class);

  ExplainedLines lines;
  lines.add("request") << request.method << " " << request.url;
  if (is_own_request(config, head, classification)) {
    tell_own_request(lines, config);
    return {true, lines.text()};
  }
  tell_classification(lines, config, classifier, classification);
  tell_readings(lines, classification);
  tell_deadline(lines, config, classification);
  tell_ignored_deadlines(lines, head, classification.client.fields);
  tell_visitor(lines, config, head, classifier, peer, classification);
  tell_upgrade(lines, config, head, classification);
  const RuledRequest ruled{config, head, classification, rule, request.state};
  tell_waiting_room(lines, ruled);
  tell_verdict(lines, ruled, plan);
  if (upstream.overload.mode == config::Mode::shadow)
    lines.add("mode") << "shadow: whatever the verdict, it is only counted and logged, and the "
                      << "request is forwarded.";
  return {true, lines.text()};
}

}  // namespace spillway
