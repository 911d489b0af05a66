// The acts of a step, and its verdict; its expectations are in expectations.cpp.
#include "system/wire/step.hpp"

#include <algorithm>
#include <utility>

namespace spillway::wire {

Step& Step::act(Act act) {
  acts_.push_back(std::move(act));
  return *this;
}

Step& Step::sends(std::string bytes) { return act({Act::Kind::send, std::move(bytes)}); }

Step& Step::byte_by_byte(std::string_view bytes) {
  for (const char byte : bytes) sends(std::string(1, byte));
  return *this;
}

Step& Step::awaits_interim() { return act({Act::Kind::await_interim}); }
Step& Step::awaits_response() { return act({Act::Kind::await_response}); }
Step& Step::awaits_origin() { return act({Act::Kind::await_origin}); }
Step& Step::awaits_answered() { return act({Act::Kind::await_answered}); }
Step& Step::half_closes() { return act({Act::Kind::half_close}); }
Step& Step::leaves() { return act({Act::Kind::leave}).responses(0); }

Step& Step::from_trusted_peer() {
  is_trusted_ = true;
  return *this;
}

Step& Step::later() {
  is_later_ = true;
  return *this;
}

Step& Step::eventually() {
  is_eventual_ = true;
  return *this;
}

Step& Step::answered(Answer answer) {
  answers_.push_back(std::move(answer));
  return *this;
}

Step& Step::unread_requests() {
  checks_origin_ = false;
  return *this;
}

bool Step::is_head() const {
  return std::ranges::any_of(acts_, [](const Act& act) { return act.bytes.starts_with("HEAD "); });
}

bool Step::breaks_off() const {
  return std::ranges::any_of(acts_, [](const Act& act) {
    return act.kind == Act::Kind::half_close || act.kind == Act::Kind::leave;
  });
}

Verdict Step::verdict_on_rules(const Observation& seen) const {
  if (checks_origin_ && !seen.origin_trouble.empty()) {
    return shown("the origin finds " + seen.origin_trouble);
  }
  if (seen.responses.size() > due_) {
    Verdict wrong = std::to_string(seen.responses.size()) + " responses with status";
    for (const Message& message : seen.responses) wrong += " " + std::to_string(message.status());
    return wrong;
  }
  if (seen.responses.size() == due_ && due_ > 0 && !seen.rest.empty()) {
    return shown("behind the response: '" + seen.rest + "'");
  }
  for (const Message& message : seen.responses) {
    if (std::string fault = fault_of_fields(message.fields); !fault.empty()) {
      return shown("in the response: " + fault);
    }
  }
  return {};
}

Verdict Step::verdict(const Observation& seen) const {
  if (Verdict wrong = verdict_on_rules(seen); !wrong.empty()) return wrong;
  std::string all;
  for (const auto& expectations : alternatives_) {
    Verdict wrong;
    for (const Expectation& expectation : expectations) {
      wrong = expectation(seen);
      if (!wrong.empty()) break;
    }
    if (wrong.empty()) return {};
    all += (all.empty() ? "" : "; or ") + wrong;
  }
  return all;
}

}  // namespace spillway::wire
