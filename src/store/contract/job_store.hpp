// Where jobs are kept. Three implementations (memory, SQLite, PostgreSQL) on one contract test.
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

// Of a store that ends with its process.
inline constexpr std::string_view kMemoryUrl = "memory:";

// What other proxies on the store have told with Announce.
struct Heard {
  std::vector<jobs::Lane> lanes{};
  std::vector<AskedCancel> cancels{};

  bool is_empty() const { return lanes.empty() && cancels.empty(); }
};

class JobStore {
 public:
  virtual ~JobStore() = default;

  // Executes the commands in their order, in one transaction, and fills in their answers. After it
  // returns nullopt they are durable. On a failure nothing was changed but keys in hand (LetGo), as
  // far as is known, and the answers mean nothing. For one thread at a time; it may block. `now` is
  // for stores without a clock of their own that all proxies share; it may be set forward and back.
  virtual std::optional<Failure> execute(std::span<Command* const> batch, jobs::WallTime now) = 0;

  // Between two batches, when none waits: housekeeping that may wait.
  virtual void rest() {}

  // Other processes may use it, too: Announce and heard() are for them.
  virtual bool is_shared() const { return false; }
  // What others have announced since it was asked last. Does not wait.
  virtual Heard heard() { return {}; }
  // Becomes readable when there may be something to hear; -1: that cannot be told now. Changes with
  // every other call.
  virtual int descriptor() const { return -1; }
};

struct Opened {
  std::unique_ptr<JobStore> store;  // null: see failure
  Failure failure;
};

// `url` as in config::Store. A relative file is relative to `directory`. Creates what is missing,
// brings an older schema up to date. Never overwrites what it cannot read. With a key, heads,
// bodies and answers are sealed (sealed_store.hpp); a store whose jobs were written with another
// key, or with none, is refused.
Opened open_store(const std::string& url, const std::filesystem::path& directory,
                  const std::optional<Key>& key = std::nullopt);

}  // namespace spillway::store
