#include "store/memory_store.hpp"

#include "store/contract/clock_steps.hpp"
#include "store/memory_jobs.hpp"

namespace spillway::store {

namespace {

class MemoryStore final : public JobStore {
 public:
  std::optional<Failure> execute(std::span<Command* const> batch, jobs::WallTime now) override {
    if (const auto by = clock_.back(now); by.count() > 0) jobs_.turn_back(by, now);
    clock_.settled(now);
    jobs_.begin();
    for (Command* command : batch) {
      std::visit([&](auto& verb) { jobs_.execute(verb, now); }, *command);
    }
    return std::nullopt;
  }

 private:
  MemoryJobs jobs_;
  ClockSteps clock_;
};

}  // namespace

std::unique_ptr<JobStore> open_memory() { return std::make_unique<MemoryStore>(); }

}  // namespace spillway::store
