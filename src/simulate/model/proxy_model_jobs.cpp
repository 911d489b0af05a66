// Jobs at the gate.
#include <utility>

#include "jobs/route_capacity.hpp"
#include "simulate/model/deferral_rules.hpp"
#include "simulate/model/proxy_model.hpp"

namespace spillway::simulate {

using dispatch::Offer;
using overload::Verdict;

ProxyModel::Admission ProxyModel::enter_job(Request& job, TimePoint now) {
  const config::Defer& defer = *defer_of(scenario_, job);
  const RouteId route = classification_of(job).route;
  dispatch::Terms terms;
  if (defer.traffic_class) {
    job.traffic_class = *defer.traffic_class;
    signals_.record_offered();
    tenants_.record_offered(job.traffic_class, job.demand.tenant_id, times_.cost.estimate(route));
    const overload::AdmissionRequest asking{route, job.traffic_class, job.demand.tenant_id,
                                            nullptr};
    const Verdict verdict = overload::decide(*controller_.plan(), budgets_, asking, now, random_);
    job.passage.token = verdict.token;
    if (verdict.kind == Verdict::Kind::deny || verdict.kind == Verdict::Kind::drop) {
      budgets_.give_back(job.passage.token);
      job.passage.may_wait_for_spare_slot = false;
      return {};
    }
    job.passage.may_wait_for_spare_slot = true;
    terms = terms_of(job, verdict, now);
    terms.tenant_weight = 1;
    terms.deadline = terms.answer_by = kNever;  // these limit its client's wait only
  } else {
    terms = spare_terms(route);
  }
  follow_servers(now);
  const Offer offer = scheduler_.offer(job, terms, now);
  Admission admission;
  admission.evicted = static_cast<Request*>(offer.evicted);
  if (offer.kind == Offer::Kind::granted) admission.entry = Entry::start;
  if (offer.kind == Offer::Kind::queued) admission.entry = Entry::wait;
  if (offer.kind == Offer::Kind::refused) budgets_.give_back(job.passage.token);
  return admission;
}

dispatch::Terms ProxyModel::spare_terms(RouteId route) const {
  dispatch::Terms terms;
  terms.traffic_class = scenario_.config.lowest_class();
  terms.in_background = terms.has_time = true;
  terms.cost = times_.cost.estimate(route, false);
  return terms;
}

ProxyModel::Entry ProxyModel::wait_for_spare_slot(Request& job, TimePoint now) {
  budgets_.give_back(job.passage.token);  // if it was refused after a wait
  const bool may_wait = std::exchange(job.passage.may_wait_for_spare_slot, false);
  if (!may_wait || !jobs::has_spare_slots(state())) return Entry::refused;
  const Offer offer = scheduler_.offer(job, spare_terms(classification_of(job).route), now);
  return offer.kind == Offer::Kind::granted ? Entry::start : Entry::wait;
}

}  // namespace spillway::simulate
