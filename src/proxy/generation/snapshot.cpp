#include "proxy/generation/snapshot.hpp"

#include <string>

namespace spillway::proxy {

namespace {

void read_dead_letters(const DeadLetterQueue& queue, bool with_letters,
                       observe::UpstreamSnapshot& snapshot, TimePoint now) {
  queue.read([&](const dispatch::DeadLetters& letters) {
    snapshot.dead_letters_total = letters.total();
    if (!with_letters) return;
    for (std::size_t i = letters.size(); i-- > 0;) {
      const dispatch::DeadLetter letter = letters[i];
      snapshot.dead_letters.push_back({.age = now - letter.at,
                                       .reason = letter.reason,
                                       .traffic_class = letter.traffic_class,
                                       .route = letter.route,
                                       .waited = letter.waited,
                                       .method = std::string(letter.method),
                                       .path = std::string(letter.path),
                                       .request_id = std::string(letter.request_id),
                                       .tenant = std::string(letter.tenant)});
    }
  });
}

void read_overload_status(Upstream& upstream, std::size_t classes,
                          observe::UpstreamSnapshot& snapshot, TimePoint now) {
  const OverloadStatus::Current status = upstream.overload_status.read();
  snapshot.state = status.state;
  snapshot.reason = status.reason;
  snapshot.in_state = now - status.since;
  snapshot.signals = status.signals;
  snapshot.is_limit_at_max = status.is_limit_at_max;
  snapshot.newest_first = status.plan->order() != overload::QueueOrder::oldest_first;
  snapshot.transitions = status.transitions;
  for (std::size_t c = 0; c < classes; ++c) {
    const ClassId id{static_cast<std::uint8_t>(c)};
    const overload::EffectiveRule& rule = status.plan->class_rule(id);
    snapshot.classes[c].rule = rule.rule;
    if (rule.rule.budget) snapshot.classes[c].budget_tokens = upstream.budgets.available(rule, now);
    if (status.plan->tenants() == nullptr) continue;
    for (const overload::Excess& excess : status.plan->tenants()->of(id).list()) {
      ++snapshot.classes[c].above_share;
      snapshot.tenants_above_share.push_back(
          {id, upstream.tenant_names.find(excess.tenant), excess.chance});
    }
  }
}

}  // namespace

void read_upstreams(Generation& generation, bool with_dead_letters, observe::Snapshot& snapshot) {
  const TimePoint now = Clock::now();
  for (Upstream& upstream : generation.upstreams) {
    observe::UpstreamSnapshot& each = snapshot.upstreams.emplace_back();
    upstream.gate.read_snapshot(each, now);
    for (std::size_t c = 0; c < each.classes.size(); ++c) {
      const ClassId id{static_cast<std::uint8_t>(c)};
      each.classes[c].returns_booked = upstream.returns.ahead(id, now);
    }
    each.is_live = upstream.is_live();
    each.open_circuits = upstream.open_circuits.load();
    upstream.servers.read_snapshot(each);
    for (std::size_t s = 0; s < each.servers.size(); ++s) {
      const std::size_t address = upstream.servers.address_in_use(s);
      each.servers[s].address = to_text(upstream.endpoints[s].addresses[address]);
    }
    read_dead_letters(upstream.dead_letters, with_dead_letters, each, now);
    read_overload_status(upstream, generation.config.classes.size(), each, now);
  }
}

}  // namespace spillway::proxy
