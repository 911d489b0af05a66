// A slot taken and given back at a gate before which nobody waits.
#include <boost/asio/io_context.hpp>

#include <memory>
#include <vector>

#include "config/defaults.hpp"
#include "proxy/gate.hpp"
#include "suite.hpp"

namespace spillway::micro {
namespace {

using std::chrono::microseconds;

// All threads of one benchmark share it. The threads of the next one come to the same gate.
proxy::Gate& shared_gate() {
  static const auto classes = config::default_classes();
  static proxy::Gate gate(config::Dispatch{}, classes);
  return gate;
}

void enter_and_leave(benchmark::State& state) {
  proxy::Gate& gate = shared_gate();
  proxy::Ticket ticket;
  dispatch::Terms terms;
  terms.traffic_class = ClassId{1};
  terms.max_wait = Milliseconds(200);
  // Without the cost of asking the clock, which the data path does once for several things.
  TimePoint now = TimePoint{} + std::chrono::hours(1);
  for (auto _ : state) {
    now += microseconds(1);
    terms.deadline = now + std::chrono::seconds(1);
    const dispatch::Offer offer = gate.enter(ticket, terms, now);
    if (offer.kind != dispatch::Offer::Kind::granted) {
      state.SkipWithError("a free slot was not granted");
      break;
    }
    gate.leave(terms.traffic_class, microseconds(20), now);
  }
}

}  // namespace

void add_gate(Suite& suite) {
  suite.add("gate/enter+leave, uncontended", 100, enter_and_leave);
  suite.add("gate/enter+leave, two threads at once", std::nullopt, enter_and_leave)
      ->Threads(2)
      ->UseRealTime();
}

}  // namespace spillway::micro
