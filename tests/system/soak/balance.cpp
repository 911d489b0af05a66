#include "system/soak/balance.hpp"

#include <array>
#include <cstdlib>
#include <functional>

namespace spillway::soak {

namespace {

// Calls `use` with the labels and the value of each sample of the family.
void each_sample(std::string_view page, std::string_view family,
                 const std::function<void(std::string_view, double)>& use) {
  while (!page.empty()) {
    const std::size_t end = page.find('\n');
    const std::string_view line = page.substr(0, end);
    page.remove_prefix(end == std::string_view::npos ? page.size() : end + 1);
    if (!line.starts_with(family)) continue;
    const std::string_view rest = line.substr(family.size());
    if (rest.empty() || (rest.front() != '{' && rest.front() != ' ')) continue;
    const std::size_t value = rest.rfind(' ');
    use(rest.substr(0, value), std::strtod(std::string(rest.substr(value + 1)).c_str(), nullptr));
  }
}

}  // namespace

double sum(std::string_view page, std::string_view family, std::string_view label) {
  double total = 0;
  each_sample(page, family, [&](std::string_view labels, double value) {
    if (labels.find(label) != std::string_view::npos) total += value;
  });
  return total;
}

bool has(std::string_view page, std::string_view family) {
  bool found = false;
  each_sample(page, family, [&](std::string_view, double) { found = true; });
  return found;
}

Balance balance_of(std::string_view page) {
  constexpr std::string_view kRequests = "spillway_requests_total";
  const auto count = [&](std::string_view label) {
    return static_cast<std::uint64_t>(sum(page, kRequests, label));
  };
  Balance balance;
  balance.accepted = static_cast<std::uint64_t>(sum(page, "spillway_requests_accepted_total"));
  balance.dropped = count(R"(outcome="dropped")");
  balance.client_gone = count(R"(outcome="client_gone")");
  balance.answered = count({}) - balance.dropped - balance.client_gone;
  return balance;
}

std::string to_text(const Balance& balance) {
  return "accepted " + std::to_string(balance.accepted) + ", answered " +
         std::to_string(balance.answered) + " + dropped " + std::to_string(balance.dropped) +
         " + client gone " + std::to_string(balance.client_gone) + " = " +
         std::to_string(balance.finished());
}

std::string still_running(std::string_view page) {
  constexpr std::array<std::string_view, 5> kGauges{"spillway_inflight", "spillway_queue_depth",
                                                    "spillway_connections", "spillway_tunnels",
                                                    "spillway_server_inflight"};
  std::string text;
  for (const std::string_view gauge : kGauges) {
    each_sample(page, gauge, [&](std::string_view labels, double value) {
      if (value == 0) return;
      text.append(text.empty() ? "" : ", ").append(gauge).append(labels).append(" ");
      text += std::to_string(static_cast<std::int64_t>(value));
    });
  }
  return text;
}

}  // namespace spillway::soak
