// The commands of the memory store. Each finds its jobs in a dedicated set, in O(log n).
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "store/contract/command.hpp"

namespace spillway::store {

class MemoryJobs {
 public:
  // Starts a batch, whose claims share one kStepBytes.
  void begin() { claimed_bytes_ = 0; }
  void execute(Join& command, jobs::WallTime now);
  void execute(Renew& command, jobs::WallTime now);
  void execute(Leave& command, jobs::WallTime now);
  void execute(Release& command, jobs::WallTime now);
  void execute(Announce&, jobs::WallTime) {}  // there is no other proxy
  void execute(LetGo&, jobs::WallTime) {}
  void execute(Enqueue& command, jobs::WallTime now);
  void execute(KnowsKey& command, jobs::WallTime now);
  void execute(HasUnfinished& command, jobs::WallTime now);
  void execute(Bury& command, jobs::WallTime now);
  void execute(Lanes& command, jobs::WallTime now);
  void execute(Claim& command, jobs::WallTime now);
  void execute(Settle& command, jobs::WallTime now);
  void execute(Cancel& command, jobs::WallTime now);
  void execute(Find& command, jobs::WallTime now);
  void execute(ReadAnswer& command, jobs::WallTime now);
  void execute(Inspect& command, jobs::WallTime now);
  void execute(List& command, jobs::WallTime now);
  void execute(Replay& command, jobs::WallTime now);
  void execute(Purge& command, jobs::WallTime now);
  void execute(Sweep& command, jobs::WallTime now);
  void execute(Totals& command, jobs::WallTime now);

  // The clock was set back by this much (ClockSteps), and now shows `now`.
  void turn_back(std::chrono::milliseconds by, jobs::WallTime now);

 private:
  using Seq = std::uint64_t;
  using Timed = std::set<std::pair<jobs::WallTime, Seq>>;
  using Order = std::pair<std::string, jobs::Digest>;  // with the name of its route

  struct One {
    jobs::NewJob job;
    jobs::Progress progress;
    Epoch epoch = 0;
    bool is_blocked = false;
    std::vector<jobs::Attempt> attempts{};
    std::optional<jobs::StoredAnswer> answer{};

    std::uint64_t content_bytes() const {
      const std::uint64_t answered = answer ? answer->fields.size() + answer->body.size() : 0;
      return job.head.size() + job.body.size() + answered;
    }
    Order order() const { return {job.lane.route, *job.order}; }
    std::pair<std::string, TenantId> tenant() const { return {job.lane.route, job.lane.tenant}; }
  };
  struct Key {
    jobs::Digest fingerprint{};
    jobs::JobId id;
    jobs::WallTime keep_until = jobs::WallTime::max();  // max: its job has not ended
  };

  One* find(const jobs::JobId& id);
  // A job is in the sets of its state; to change, it leaves them and enters those of the new state.
  void enter(Seq seq, const One& one);
  void leave(Seq seq, const One& one);
  void change(Seq seq, One& one, const jobs::Progress& after);
  void drop_answer(One& one);
  static void keep(One& one, const jobs::Attempt& attempt);
  void keep_key(const One& one);
  void unblock_next(const Order& order);
  void remove(Seq seq);
  bool is_known(Enqueue& command);
  bool is_registered(Epoch epoch) const { return epoch != 0 && epoch == registered_; }
  jobs::JobView view(const One& one) const;
  std::uint64_t position(Seq seq, const One& one) const;
  void recover(Sweep& command, jobs::WallTime now);

  Seq last_seq_ = 0;
  Epoch last_epoch_ = 0;
  std::map<Seq, One> jobs_;
  std::map<jobs::JobId, Seq> ids_;
  Epoch registered_ = 0;  // there is one process: valid until the next Join
  std::map<std::string, std::array<std::uint64_t, jobs::kJobStateCount>> routes_;
  std::map<std::pair<std::string, TenantId>, std::uint64_t> waiting_;  // for each tenant
  std::map<jobs::Lane, Timed> claimable_;                              // by due time
  std::map<Epoch, std::set<Seq>> leased_;
  std::map<Order, std::set<Seq>> ordered_;  // jobs that have not ended
  Timed expiring_, forgetting_;
  std::set<Seq> letters_;  // dead or expired
  std::map<jobs::Digest, Key> keys_;
  std::set<std::pair<jobs::WallTime, jobs::Digest>> old_keys_;
  std::uint64_t bytes_ = 0;
  std::uint64_t claimed_bytes_ = 0;  // of this batch
};

}  // namespace spillway::store
