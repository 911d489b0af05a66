// One turn of a backlogged scheduler: a slot comes back, the next waiter starts, and another
// takes a place in the queue. The queues stay as long as they are.
#include <array>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "config/defaults.hpp"
#include "dispatch/scheduler/scheduler.hpp"
#include "suite.hpp"

namespace spillway::micro {
namespace {

using config::Discipline;
using namespace std::chrono_literals;

// Whether waiters that follow one another in a queue do so in memory, too.
enum class Memory : std::uint8_t { in_order, shuffled };

struct Setup {
  Discipline discipline = Discipline::wfq;
  std::size_t queued = 0;
  Memory memory = Memory::in_order;

  friend bool operator==(const Setup&, const Setup&) = default;
};

// As many waiters as asked, a third in each class, before 64 slots that are all taken.
class Backlog {
 public:
  explicit Backlog(const Setup& setup)
      : setup_(setup),
        waiters_(std::make_unique<dispatch::Waiter[]>(setup.queued + kSlots)),
        classes_(classes(setup.queued)),
        scheduler_(settings(setup.discipline), classes_) {
    std::vector<std::size_t> order(setup.queued + kSlots);
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (setup.memory == Memory::shuffled) shuffle(order);
    for (std::size_t i = 0; i < order.size(); ++i) {
      dispatch::Waiter& waiter = waiters_[order[i]];
      waiter.traffic_class = ClassId(i % classes_.size());
      waiter.cost = 1 + static_cast<double>(i % 20);
      offer(waiter);
      if (i < kSlots) running_[i] = &waiter;
    }
  }

  const Setup& setup() const { return setup_; }
  bool full() const {
    return scheduler_.queued() == setup_.queued && scheduler_.running() == kSlots;
  }

  bool turn() {
    now_ += kBetweenTurns;
    if (now_ >= sweep_) {  // as a worker does every 10 ms
      if (scheduler_.expire(now_) != nullptr) return false;
      sweep_ = now_ + 10ms;
    }
    dispatch::Waiter*& slot = running_[next_slot_++ % kSlots];
    dispatch::Waiter& leaving = *slot;
    slot = scheduler_.release(leaving.traffic_class, kHeld, now_);
    return slot != nullptr && offer(leaving);
  }

 private:
  static constexpr std::size_t kSlots = 64;
  static constexpr Duration kBetweenTurns = 100ns;
  static constexpr Duration kHeld = kSlots * kBetweenTurns;

  static config::Dispatch settings(Discipline discipline) {
    config::Dispatch settings;
    settings.concurrency = kSlots;
    settings.discipline = discipline;
    return settings;
  }

  static std::vector<config::TrafficClass> classes(std::size_t queued) {
    auto classes = config::default_classes();
    for (config::TrafficClass& each : classes)
      each.max_queue = static_cast<std::uint32_t>(queued + kSlots);
    return classes;
  }

  static void shuffle(std::vector<std::size_t>& order) {
    Random random(1);
    for (std::size_t i = order.size() - 1; i > 0; --i)
      std::swap(order[i], order[random.next() % (i + 1)]);
  }

  bool offer(dispatch::Waiter& waiter) {
    const dispatch::Terms terms{.traffic_class = waiter.traffic_class,
                                .deadline = now_ + 1h,
                                .max_wait = 30min,
                                .cost = waiter.cost};
    return scheduler_.offer(waiter, terms, now_).kind == dispatch::Offer::Kind::queued;
  }

  Setup setup_;
  std::unique_ptr<dispatch::Waiter[]> waiters_;
  std::vector<config::TrafficClass> classes_;
  dispatch::Scheduler scheduler_;
  std::array<dispatch::Waiter*, kSlots> running_{};
  std::size_t next_slot_ = 0;
  TimePoint now_ = TimePoint{} + 1h;
  TimePoint sweep_ = now_;
};

// A million waiters take longer to set up than to measure: kept while the same one is repeated.
Backlog& backlog_of(const Setup& setup) {
  static std::unique_ptr<Backlog> kept;
  if (!kept || !(kept->setup() == setup)) {
    kept.reset();
    kept = std::make_unique<Backlog>(setup);
  }
  return *kept;
}

void turns(benchmark::State& state, const Setup& setup) {
  Backlog& backlog = backlog_of(setup);
  for (auto _ : state) {
    if (!backlog.turn()) {
      state.SkipWithError("a turn did not start one waiter and queue another");
      break;
    }
  }
  if (!backlog.full()) state.SkipWithError("the queues did not keep their length");
}

constexpr std::array<std::pair<Discipline, const char*>, 7> kDisciplines{{
    {Discipline::wfq, "wfq"},
    {Discipline::pq, "pq"},
    {Discipline::rr, "rr"},
    {Discipline::wrr, "wrr"},
    {Discipline::drr, "drr"},
    {Discipline::aging, "aging"},
    {Discipline::edf, "edf"},
}};

}  // namespace

void add_scheduler(Suite& suite) {
  for (const auto& [discipline, name] : kDisciplines) {
    for (const Memory memory : {Memory::in_order, Memory::shuffled}) {
      for (const std::size_t queued : {100, 1000, 10000, 100000, 1000000}) {
        const Setup setup{discipline, queued, memory};
        suite.add(std::string("scheduler/") + name + "/" + size_name(queued) +
                      (memory == Memory::in_order ? " queued" : " queued, scattered"),
                  150, [setup](benchmark::State& state) { turns(state, setup); });
      }
    }
  }
}

}  // namespace spillway::micro
