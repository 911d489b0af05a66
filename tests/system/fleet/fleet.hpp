// Proxies that share one PostgreSQL, each before a backend of its own, so that it shows who has
// forwarded a job.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "support/event.hpp"
#include "support/postgres.hpp"
#include "support/proxy_process.hpp"
#include "support/scripted_peer.hpp"

namespace spillway::support {

// Answers jobs with its name, or holds them until it is told to answer or the proxy gives them up.
class HoldingBackend {
 public:
  // Answers so many at once before it holds any.
  HoldingBackend(std::string name, std::size_t answers);
  ~HoldingBackend() { is_over_ = true; }

  std::string address() const { return peer_.address(); }
  // Answers so many more, of those that it holds first.
  void answer(std::size_t more);
  void answer_all() { answer(std::size_t{1} << 40); }

  // In the order of arrival, by Idempotency-Key (which is the job's id): each attempt that came.
  std::vector<std::string> came() const;
  // Those of them that it holds now.
  std::set<std::string> held() const;
  // At the same time, ever.
  std::size_t most_held() const;
  std::size_t given_up() const;
  // False: it never came to be.
  bool comes_to_hold(std::size_t jobs) const;
  bool comes_to_have_answered(std::size_t jobs) const;
  bool comes_to_be_given_up(std::size_t jobs) const;

 private:
  void play(PeerConnection& proxy);
  bool may_answer();
  bool becomes(const std::function<bool()>& condition) const;

  const std::string response_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::atomic<bool> is_over_{false};  // what is held is given up
  std::size_t may_answer_;
  std::size_t answered_ = 0;
  std::size_t given_up_ = 0;
  std::size_t most_held_ = 0;
  std::vector<std::string> came_;
  std::multiset<std::string> held_;
  ScriptedPeer peer_;
};

struct Member {
  Member(const std::string& name, std::size_t answers, nlohmann::json settings);

  HoldingBackend backend;
  ProxyProcess proxy;

  // Location of the job that a POST to /order became; empty: it was refused.
  std::string order() const;
  // "status 404" if it is no job.
  std::string state_of(const std::string& location) const;
  // The stored answer's body.
  std::string answer_of(const std::string& location) const;
  // Of a sample without labels.
  double metric(const std::string& name) const;
  bool metric_becomes(const std::string& name, double value) const;
};

// Every attempt at each job.
std::map<std::string, int> attempts(const std::vector<const HoldingBackend*>& backends);

// Route `order` defers every request, `concurrency` jobs at a time in all proxies; route `live`
// nothing. `limits` of the configuration that differ from the defaults.
nlohmann::json fleet_settings(const std::string& url, std::chrono::milliseconds lease,
                              std::size_t concurrency,
                              const nlohmann::json& limits = nlohmann::json::object());

// The same with one slot for each proxy, and a lease that does not end within a test.
nlohmann::json with_one_slot(const std::string& url, std::size_t concurrency);

// False: the proxies on the database never came to hold these parts of that route's `concurrency`,
// in the order in which they have joined.
bool comes_to_share(const std::string& url, const std::string& parts);

std::string id_of(const std::string& location);

}  // namespace spillway::support
