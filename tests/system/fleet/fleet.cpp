#include "system/fleet/fleet.hpp"

#include <algorithm>
#include <cstdlib>
#include <functional>

#include "support/proxy_under_test.hpp"
#include "support/raw_client.hpp"

namespace spillway::support {
namespace {

using nlohmann::json;

// How often it is looked whether the proxy has given up a request that is held.
constexpr Milliseconds kLook{20};

json before(const HoldingBackend& backend, json settings) {
  settings["upstreams"][0]["servers"] = json::array({backend.address()});
  return settings;
}

}  // namespace

HoldingBackend::HoldingBackend(std::string name, std::size_t answers)
    : response_("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(name.size()) + "\r\n\r\n" +
                name),
      may_answer_(answers),
      peer_([this](PeerConnection& proxy) { play(proxy); }) {}

bool HoldingBackend::may_answer() {
  const std::lock_guard lock(mutex_);
  if (may_answer_ == 0) return false;
  --may_answer_;
  return true;
}

void HoldingBackend::play(PeerConnection& proxy) {
  while (const auto request = proxy.read_request()) {
    const std::string job = request->field("Idempotency-Key").value_or("live");
    {
      const std::lock_guard lock(mutex_);
      came_.push_back(job);
      held_.insert(job);
      most_held_ = std::max(most_held_, held_.size());
    }
    changed_.notify_all();
    bool is_given_up = false;
    while (!is_given_up && !may_answer()) is_given_up = proxy.wait_closed(kLook) || is_over_;
    is_given_up = is_given_up || !proxy.send(response_);
    {
      const std::lock_guard lock(mutex_);
      held_.erase(held_.find(job));
      ++(is_given_up ? given_up_ : answered_);
    }
    changed_.notify_all();
    if (is_given_up) return;
  }
}

void HoldingBackend::answer(std::size_t more) {
  const std::lock_guard lock(mutex_);
  may_answer_ += more;
}

std::vector<std::string> HoldingBackend::came() const {
  const std::lock_guard lock(mutex_);
  return came_;
}

std::set<std::string> HoldingBackend::held() const {
  const std::lock_guard lock(mutex_);
  return {held_.begin(), held_.end()};
}

std::size_t HoldingBackend::most_held() const {
  const std::lock_guard lock(mutex_);
  return most_held_;
}

std::size_t HoldingBackend::given_up() const {
  const std::lock_guard lock(mutex_);
  return given_up_;
}

bool HoldingBackend::becomes(const std::function<bool()>& condition) const {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, kPatience, condition);
}
bool HoldingBackend::comes_to_hold(std::size_t jobs) const {
  return becomes([&] { return held_.size() == jobs; });
}
bool HoldingBackend::comes_to_have_answered(std::size_t jobs) const {
  return becomes([&] { return answered_ >= jobs; });
}
bool HoldingBackend::comes_to_be_given_up(std::size_t jobs) const {
  return becomes([&] { return given_up_ >= jobs; });
}

Member::Member(const std::string& name, std::size_t answers, json settings)
    : backend(name, answers), proxy(before(backend, std::move(settings))) {}

std::string Member::order() const {
  const Message answer = RawClient(proxy.port()).ask(post("/order", "one of each"));
  return answer.status() == 202 ? answer.field("Location").value_or("") : "";
}

std::string Member::state_of(const std::string& location) const {
  const Message answer = RawClient(proxy.port()).ask(get(location));
  if (answer.status() != 200) return "status " + std::to_string(answer.status());
  return json::parse(answer.body).value("state", "");
}

std::string Member::answer_of(const std::string& location) const {
  return RawClient(proxy.port()).ask(get(location + "/response")).body;
}

double Member::metric(const std::string& name) const {
  const std::string page =
      RawClient(proxy.admin_port()).ask("GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n").body;
  const std::size_t line = page.find("\n" + name + " ");
  if (line == std::string::npos) return 0;
  return std::strtod(page.c_str() + line + name.size() + 2, nullptr);
}

bool Member::metric_becomes(const std::string& name, double value) const {
  for (const Deadline deadline; !deadline.passed();)
    if (metric(name) == value) return true;
  return false;
}

std::map<std::string, int> attempts(const std::vector<const HoldingBackend*>& backends) {
  std::map<std::string, int> times;
  for (const HoldingBackend* const backend : backends)
    for (const std::string& job : backend->came()) ++times[job];
  return times;
}

json fleet_settings(const std::string& url, std::chrono::milliseconds lease,
                    std::size_t concurrency, const json& limits) {
  const json order{{"name", "order"},
                   {"match", {{"path", "/order"}}},
                   {"defer", {{"when", "always"}, {"concurrency", concurrency}}}};
  const json live{{"name", "live"}, {"match", {{"path", "/live"}}}};
  return configuration({}, {{"store", {{"url", url}, {"lease_ms", lease.count()}}},
                            {"app", {{"ejection", {{"consecutive_failures", 0}}}}},
                            {"log", {{"level", "error"}}},
                            {"limits", limits},
                            {"routes", json::array({order, live})}});
}

json with_one_slot(const std::string& url, std::size_t concurrency) {
  json settings = fleet_settings(url, std::chrono::minutes(10), concurrency);
  settings["dispatch"] = {{"concurrency", 1}};
  return settings;
}

bool comes_to_share(const std::string& url, const std::string& parts) {
  for (const Deadline deadline; !deadline.passed();) {
    const std::string now =
        Postgres::ask(url,
                      "SELECT coalesce(string_agg(cap_held[1]::text, ' ' ORDER BY epoch), '') "
                      "FROM spillway.proxy WHERE NOT is_over AND cap_held <> '{}'");
    if (now == parts) return true;
  }
  return false;
}

std::string id_of(const std::string& location) { return location.substr(location.rfind('/') + 1); }

}  // namespace spillway::support
