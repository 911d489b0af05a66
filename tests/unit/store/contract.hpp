// The implementations that the contract test runs against.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "store/contract/job_store.hpp"

namespace spillway::store {

// One implementation, with its own place for data, which goes with it.
class Contract {
 public:
  virtual ~Contract() = default;

  // false: this machine lacks what the implementation needs, and its tests are skipped.
  virtual bool is_available() const { return true; }
  // A new store without jobs.
  virtual std::unique_ptr<JobStore> make() = 0;
  // What make() has written, once its store was destroyed. nullptr: it keeps nothing.
  virtual std::unique_ptr<JobStore> reopen() = 0;

  // The time as the store sees it. A store with a clock of its own shifts what it has written.
  virtual jobs::WallTime now() const { return now_; }
  virtual void pass(std::chrono::milliseconds time) { now_ += time; }

  // Several proxies may be registered at a time; otherwise a Join ends all others.
  virtual bool is_shared() const { return false; }

 private:
  jobs::WallTime now_{std::chrono::milliseconds(1'800'000'000'000)};
};

struct Implementation {
  std::string name;
  std::unique_ptr<Contract> (*contract)();
};

// All of them. A new one is added in contract.cpp.
std::vector<Implementation> implementations();

}  // namespace spillway::store
