// A slot taken and given back at a gate with an empty queue.
#include <boost/asio/io_context.hpp>

#include <optional>

#include "config/defaults.hpp"
#include "proxy/upstream/gate.hpp"
#include "suite.hpp"

namespace spillway::micro {
namespace {

using std::chrono::microseconds;

// Shared by the threads of a run, and new for each: its time never goes back.
std::optional<proxy::Gate>& shared_gate() {
  static std::optional<proxy::Gate> gate;
  return gate;
}

void open_gate(const benchmark::State&) {
  static const auto classes = config::default_classes();
  shared_gate().emplace(config::Dispatch{}, classes);
}

void enter_and_leave(benchmark::State& state) {
  proxy::Gate& gate = *shared_gate();
  proxy::Ticket ticket;
  dispatch::Terms terms;
  terms.traffic_class = ClassId{1};
  terms.max_wait = Milliseconds(200);
  // Without the cost of asking the clock, which the data path does once for several things. The
  // threads' times drift apart, by less than the deadline.
  TimePoint now = TimePoint{} + std::chrono::hours(1);
  for (auto _ : state) {
    now += microseconds(1);
    terms.deadline = now + std::chrono::hours(1);
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
  suite.add("gate/enter+leave, uncontended", 100, enter_and_leave)->Setup(open_gate);
  suite.add("gate/enter+leave, two threads at once", std::nullopt, enter_and_leave)
      ->Setup(open_gate)
      ->Threads(2)
      ->UseRealTime();
}

}  // namespace spillway::micro
