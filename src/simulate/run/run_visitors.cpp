// Visitors in a run.
#include "simulate/run/run.hpp"

namespace spillway::simulate {

void Run::come(Request& pattern) {
  visitors_.arrive(pattern, now_);
  act(pattern);
}

void Run::act(Request& pattern) { go_on(pattern, visitors_.act(pattern, now_)); }

void Run::go_on(Request& pattern, const VisitorsModel::Step& step) {
  using Does = VisitorsModel::Does;
  if (step.does == Does::rests) return schedule(step.again, EventKind::visitor, pattern);
  if (step.does == Does::is_gone) return pool_.release(pattern);
  Request& page = pool_.acquire();
  ClientModel::repeat(pattern, page);
  page.demand.attempt = 1;
  page.traffic_class = step.traffic_class.value_or(pattern.traffic_class);
  page.visitor = &pattern;
  arrive(page);
}

// Takes effect once: later work of the backend on the page no longer concerns its visitor.
void Run::end_page(Request& page, bool is_served, Duration retry_after) {
  Request& pattern = *page.visitor;
  page.visitor = nullptr;
  go_on(pattern, visitors_.page_ended(pattern, is_served, retry_after, now_));
}

}  // namespace spillway::simulate
