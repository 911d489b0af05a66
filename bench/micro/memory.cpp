#include "memory.hpp"

#include <benchmark/benchmark.h>
#include <malloc.h>

#include <iostream>
#include <memory>
#include <vector>

#include "crowd.hpp"
#include "dispatch/scheduler/scheduler.hpp"
#include "overload/admission/rules.hpp"
#include "overload/signals/shard.hpp"
#include "overload/signals/signals.hpp"
#include "site.hpp"
#include "table.hpp"
#include "traffic/classify/classify.hpp"
#include "waiting_line.hpp"

namespace spillway::micro {
namespace {

std::size_t allocated() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;  // small blocks and mapped ones
}

// What `make` allocates for what it returns (a unique_ptr), the object included.
template <class Make>
std::size_t size_of(const Make& make) {
  const std::size_t before = allocated();
  auto made = make();
  benchmark::DoNotOptimize(made);  // or nothing is made
  return allocated() - before;
}

template <class Make>
void print_size(std::ostream& out, const char* name, const Make& make) {
  out << sizes_line(name, size_of(make)) << '\n';
}

std::size_t size_of_line(std::size_t length) {
  return size_of([&] { return waiting_line(length, waiting::Time(std::chrono::hours(1))); });
}

}  // namespace

void print_sizes(std::ostream& out) {
  const config::Config config = site(10000);
  const config::Upstream& upstream = config.upstreams.front();

  out << sizes_heading() << '\n';
  print_size(out, "signal shard (worker and upstream)",
             [] { return std::make_unique<overload::SignalShard>(); });
  print_size(out, "signal window (upstream)", [&] {
    auto window = std::make_unique<overload::SignalWindow>(upstream.overload);
    for (int i = 1; i <= 100; ++i) {
      const std::vector<std::uint32_t> queues(3);
      overload::TickInput input;
      input.queued = input.max_queue = queues;
      window->tick(input, TimePoint{} + i * upstream.overload.tick);
    }
    return window;
  });
  print_size(out, "tenant shard after 10^6 tenants (same)",
             [] { return shard_after(requests_of(1000000, Crowd::uniform)); });
  print_size(out, "scheduler with its queues (upstream)", [&] {
    return std::make_unique<dispatch::Scheduler>(upstream.dispatch, config.classes);
  });
  out << sizes_line("waiter (waiting request)", sizeof(dispatch::Waiter)) << '\n';
  print_size(out, "classifier of 10 000 routes",
             [&] { return std::make_unique<traffic::Classifier>(config); });
  const std::size_t many = size_of_line(1000000);
  out << sizes_line("waiting room with 10^6 in line (its route)", many) << '\n'
      << sizes_line("waiting ticket, from 10^5 to 10^6 in line",
                    (many - size_of_line(100000)) / 900000)
      << '\n';
  print_size(out, "rules of 10 000 routes (upstream), 4 states",
             [&] { return std::make_unique<overload::RuleTables>(config, upstream); });
}

}  // namespace spillway::micro
