// The store of jobs. Three implementations (memory, SQLite, PostgreSQL) pass one contract test.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "store/contract/command.hpp"
#include "store/contract/failure.hpp"
#include "store/contract/key.hpp"

namespace spillway::store {

// A store that ends with its process.
inline constexpr std::string_view kMemoryUrl = "memory:";

// Announcements (Announce) received from other proxies on the store.
struct Heard {
  std::vector<jobs::Lane> lanes{};
  std::vector<AskedCancel> cancels{};

  bool is_empty() const { return lanes.empty() && cancels.empty(); }
};

class JobStore {
 public:
  virtual ~JobStore() = default;

  // Executes the commands in order, in one transaction, and fills in their results, which are
  // durable once it returns nullopt. On a failure nothing was changed except held keys (LetGo), as
  // far as is known, and the results mean nothing. For one thread at a time; it may block. `now` is
  // for stores without a clock that all proxies share; it may jump forward and back.
  virtual std::optional<Failure> execute(std::span<Command* const> batch, jobs::WallTime now) = 0;

  // Called between two batches if none is waiting: housekeeping that can be delayed.
  virtual void rest() {}

  // Whether other processes may use the store too: Announce and heard() are for them.
  virtual bool is_shared() const { return false; }
  // The announcements of others since the previous call. Does not block.
  virtual Heard heard() { return {}; }
  // Becomes readable when heard() may have something; -1: not available now. May change with every
  // other call.
  virtual int descriptor() const { return -1; }
};

struct Opened {
  std::unique_ptr<JobStore> store;  // null: see failure
  Failure failure;
};

// `url` as in config::Store. A relative file name is relative to `directory`. Creates what is
// missing, and upgrades an older schema. Never overwrites anything that it cannot read. With a key,
// heads, bodies and answers are encrypted (sealed_store.hpp); a store whose jobs were written with
// another key, or without one, is refused.
Opened open_store(const std::string& url, const std::filesystem::path& directory,
                  const std::optional<Key>& key = std::nullopt);

}  // namespace spillway::store
