// Steps that come before the overload rule: waiting room, Spillway's own paths, deferral.
#include <algorithm>
#include <string_view>

#include "cli/explain/explain_sections.hpp"
#include "config/choices.hpp"
#include "http/message/target.hpp"
#include "http/message/upgrade.hpp"
#include "jobs/deferral_rule.hpp"
#include "jobs/prefer.hpp"

namespace spillway {
namespace {

using config::DeferWhen;

bool is_preferred(const RuledRequest& request) {
  return jobs::parse_prefer(request.head.fields).respond_async;
}

// Why the request is never deferred; empty if it may be.
std::string_view why_not(const RuledRequest& request, const config::Defer& defer) {
  if (request.upstream().overload.mode == config::Mode::shadow)
    return "its upstream is in shadow mode";
  if (!http::offered_upgrade(request.head, request.route().upgrades).empty())
    return "it asks for an upgrade";
  const jobs::Deferrable by_method = jobs::deferrable(request.head.method);
  if (by_method == jobs::Deferrable::never) return "by its method";
  const bool needs_prefer =
      by_method == jobs::Deferrable::if_preferred || defer.when == DeferWhen::prefer;
  if (needs_prefer && !is_preferred(request)) return "only with Prefer: respond-async";
  const http::Framing& framing = request.head.framing;
  if (framing.kind == http::Framing::Kind::length && framing.length > defer.max_body_bytes)
    return "its body is longer than max_body_bytes";
  return {};
}

}  // namespace

bool is_own_request(const config::Config& config, const http::RequestHead& head,
                    const traffic::Classification& classification) {
  const bool has_own = std::ranges::any_of(
      config.routes, [](const config::Route& route) { return route.defer || route.waiting_room; });
  if (!has_own || config.own_path.empty()) return false;
  std::string_view path = http::path_of(head.path_and_query);
  if (!path.starts_with(config.own_path)) return false;
  path.remove_prefix(config.own_path.size());
  return (path.empty() || path.front() == '/') &&
         config.routes[index(classification.route)].own_path;
}

void tell_own_request(ExplainedLines& lines, const config::Config& config) {
  lines.add("verdict") << "answered by Spillway itself";
  lines.add("why") << "Its path is below own_path (" << config.own_path
                   << "): jobs and places in waiting rooms. No rule counts, and it takes no slot.";
}

void tell_waiting_room(ExplainedLines& lines, const RuledRequest& request) {
  const auto& room = request.route().waiting_room;
  if (!room) return;
  auto& line = lines.add("room") << "a visitor who has not come in yet ";
  switch (room->opening.when) {
    case config::WaitingWhen::always: line << "waits for its turn, even if there is room"; break;
    case config::WaitingWhen::full: line << "waits while it is full"; break;
    case config::WaitingWhen::overloaded:
      line << "waits while it is full, and from when the upstream is overloaded";
      break;
  }
  line << " (when: " << config::name(room->opening.when) << "): " << room->page.status
       << " WAITING_ROOM.";
  lines.add("") << "Then nothing of what is below counts.";
}

Deferral tell_deferral(ExplainedLines& lines, const RuledRequest& request) {
  const auto& defer = request.route().defer;
  if (!defer) return Deferral::none;
  auto& line = lines.add("defer");
  if (const std::string_view why = why_not(request, *defer); !why.empty()) {
    line << "not this request: " << why;
    return Deferral::none;
  }
  if (jobs::comes_first(defer->when, false, is_preferred(request))) {
    line << "before it is tried (when: " << config::name(defer->when) << ")";
    return Deferral::before_it_is_tried;
  }
  line << "202, as a job, in place of a refusal for want of room"
       << (defer->include_limits ? ", a budget or a tenant's share" : "")
       << " (when: " << config::name(defer->when) << ")";
  return Deferral::in_place_of_refusals;
}

void tell_deferred(ExplainedLines& lines, const RuledRequest& request) {
  using config::Strategy;
  lines.add("verdict") << "202, deferred";
  lines.add("why") << "It is written down as a job, and forwarded once there is room.";
  if (request.state == State::normal || request.rule.strategy == Strategy::allow) return;
  if (request.rule.strategy == Strategy::degrade) {
    lines.add("") << "An answer that its rule gives without the upstream goes before.";
    return;
  }
  lines.add("") << "If its rule refuses it for EVENT_LOOP_LAG"
                << (request.route().defer->include_limits ? "" : ", a budget or its tenant's share")
                << " it is refused.";
}

}  // namespace spillway
