// What the store's benchmark does with a store.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/jobs/figures.hpp"
#include "store/contract/job_store.hpp"

namespace spillway::job_bench {

// What is like nothing else among the jobs of a shop.
struct Goods {
  bool have_keys = false;   // an Idempotency-Key each
  std::uint64_t lanes = 8;  // over which they are spread: tenants
};

// Jobs like those of a shop: 1 KiB. What the store refuses is thrown, as std::runtime_error.
class Shop {
 public:
  Shop(std::string url, std::filesystem::path directory, Goods goods = {});

  void open();
  void close() { store_.reset(); }

  // `outstanding` jobs wait at any time; the writer is a thread of its own, as in the proxy.
  Figures enqueue(std::size_t outstanding, std::chrono::milliseconds time);
  // Fills up to `pending`, without a wait for any of them.
  void fill(std::uint64_t pending);
  // Claims `limit` jobs, of as many lanes as the proxy asks at a time, settles them, and writes as
  // many anew (not timed), so that as many wait as before. Meanwhile it asks for lanes and totals
  // as often as the proxy does.
  Figures cycle(std::size_t limit, std::chrono::milliseconds time);
  // Jobs per second that went in, were claimed and settled: `together` of each a batch.
  double loop(std::size_t together, std::chrono::milliseconds time);

 private:
  store::Command new_job(jobs::Lane lane);
  jobs::Lane lane(std::uint64_t n) const;
  void look(std::vector<store::Command>& batch);
  void learn(const std::vector<store::Command>& batch);
  std::vector<store::Command> claims(std::size_t limit);
  std::uint64_t lanes_at_once(std::size_t limit) const;
  void add_ends(const store::Claim& claim, std::vector<store::Command>& ends) const;
  void execute(std::vector<store::Command>& batch);

  std::string url_;
  std::filesystem::path directory_;
  Goods goods_;
  std::unique_ptr<store::JobStore> store_;
  store::Epoch epoch_ = 0;
  std::uint64_t made_ = 0, pending_ = 0, claimed_ = 0;
  std::chrono::steady_clock::time_point lanes_at_{}, totals_at_{};
  std::optional<jobs::Lane> lanes_after_;
};

}  // namespace spillway::job_bench
