// Orders that become deferred requests, of which a backend rejects some for good.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "support/proxy_process.hpp"
#include "support/raw_client.hpp"
#include "support/scripted_peer.hpp"

namespace spillway::support {

// Of each five orders the backend rejects one, so that to be dead is an end of its own.
inline bool is_rejected(int number) { return number % 5 == 0; }

// Answers 200 or 404, counts how often each job came, and holds one until its proxy ends if it is
// told to.
class OrderBackend {
 public:
  // With `rejects` false it answers 200 to all of them.
  explicit OrderBackend(bool rejects)
      : rejects_(rejects), peer_([this](PeerConnection& proxy) { play(proxy); }) {}

  std::string address() const { return peer_.address(); }
  // The next one that it has not held before.
  void hold_one();
  bool comes_to_hold_it() const;

  // By Idempotency-Key, which is the job's id as a string.
  std::map<std::string, int> times() const;
  std::set<std::string> held() const;

 private:
  void play(PeerConnection& proxy);
  bool note(const std::string& job);

  const bool rejects_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::map<std::string, int> times_;
  std::set<std::string> held_;
  bool is_to_hold_ = false;
  ScriptedPeer peer_;
};

// `store`: as in the configuration. Orders go to /order/{number}.
nlohmann::json order_settings(const OrderBackend& backend, nlohmann::json store);

struct Promise {
  std::string location;
  int number = 0;

  std::string id() const { return location.substr(location.rfind('/') + 1); }
};

// What clients were promised.
class Promises {
 public:
  // Orders until the proxy is gone.
  void order(std::uint16_t port);
  // Returns once there are so many more; or after a while, as a proxy may take its time.
  void await(std::size_t more);
  std::vector<Promise> all() const;

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::atomic<int> number_{0};
  std::vector<Promise> all_;
};

// "succeeded", "dead poison", "queued"; "status 404" if it is no job.
std::string state_of(RawClient& client, const Promise& promise);
inline bool is_end(const std::string& state) {
  return state == "succeeded" || state.starts_with("dead ");
}

// What the operator sees of every job, by its id.
std::map<std::string, nlohmann::json> all_jobs(const ProxyProcess& proxy);

}  // namespace spillway::support
