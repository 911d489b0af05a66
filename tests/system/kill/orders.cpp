#include "system/kill/orders.hpp"

#include <chrono>
#include <exception>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "support/proxy_under_test.hpp"

namespace spillway::support {

using nlohmann::json;

namespace {

constexpr std::string_view kOrder = "/order/";

// A structured field's string (RFC 8941), without its quotes.
std::string job_of(const Message& request) {
  const std::string key = request.field("Idempotency-Key").value_or("\"\"");
  return key.substr(1, key.size() - 2);
}

int number_of(const Message& request) { return std::stoi(request.target().substr(kOrder.size())); }

}  // namespace

void OrderBackend::play(PeerConnection& proxy) {
  while (const auto request = proxy.read_request()) {
    if (note(job_of(*request))) {
      proxy.wait_closed();
      return;
    }
    if (!proxy.send(rejects_ && is_rejected(number_of(*request))
                        ? "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"
                        : "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"))
      return;
  }
}

// True: it is to be held.
bool OrderBackend::note(const std::string& job) {
  const std::lock_guard lock(mutex_);
  ++times_[job];
  if (!is_to_hold_ || !held_.insert(job).second) return false;
  is_to_hold_ = false;
  changed_.notify_all();
  return true;
}

void OrderBackend::hold_one() {
  const std::lock_guard lock(mutex_);
  is_to_hold_ = true;
}

bool OrderBackend::comes_to_hold_it() const {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, kPatience, [&] { return !is_to_hold_; });
}

std::map<std::string, int> OrderBackend::times() const {
  const std::lock_guard lock(mutex_);
  return times_;
}

std::set<std::string> OrderBackend::held() const {
  const std::lock_guard lock(mutex_);
  return held_;
}

json order_settings(const OrderBackend& backend, json store) {
  store["lookups_per_second"] = 1e6;
  return configuration({backend.address()}, {{"store", std::move(store)},
                                             {"app", {{"ejection", {{"consecutive_failures", 0}}}}},
                                             {"log", {{"level", "error"}}},
                                             {"routes",
                                              {{{"name", "order"},
                                                {"match", {{"path", "/order/**"}}},
                                                {"defer", {{"when", "always"}}}}}}});
}

void Promises::order(std::uint16_t port) {
  try {
    RawClient client(port);
    for (;;) {
      const int number = ++number_;
      const Message answer = client.ask(post(std::string(kOrder) + std::to_string(number), "body"));
      if (answer.status() != 202) return;
      {
        const std::lock_guard lock(mutex_);
        all_.push_back({answer.field("Location").value_or("none"), number});
      }
      changed_.notify_all();
    }
  } catch (const std::exception&) {  // killed
  }
}

void Promises::await(std::size_t more) {
  std::unique_lock lock(mutex_);
  const std::size_t wanted = all_.size() + more;
  changed_.wait_for(lock, std::chrono::seconds(2), [&] { return all_.size() >= wanted; });
}

std::vector<Promise> Promises::all() const {
  const std::lock_guard lock(mutex_);
  return all_;
}

std::string state_of(RawClient& client, const Promise& promise) {
  const Message answer = client.ask(get(promise.location));
  if (answer.status() != 200) return "status " + std::to_string(answer.status());
  const json told = json::parse(answer.body);
  const std::string state = told.value("state", "");
  return state == "dead" ? "dead " + told.value("cause", "") : state;
}

std::map<std::string, json> all_jobs(const ProxyProcess& proxy) {
  std::map<std::string, json> jobs;
  for (std::string after;;) {
    const Message answer =
        RawClient(proxy.admin_port())
            .ask("GET /jobs?limit=1000" + after + " HTTP/1.1\r\nHost: localhost\r\n\r\n");
    if (answer.status() != 200) throw std::runtime_error("jobs: " + answer.body);
    const json page = json::parse(answer.body);
    for (const json& job : page.at("jobs")) jobs[job.at("id")] = job;
    if (page.at("next").is_null()) return jobs;
    after = "&after=" + page.at("next").get<std::string>();
  }
}

}  // namespace spillway::support
