// Jobs at the gate.
#include "simulate/deferral_rules.hpp"
#include "simulate/proxy_model.hpp"

namespace spillway::simulate {

using dispatch::Offer;
using overload::Verdict;

ProxyModel::Admission ProxyModel::enter_job(Request& job, TimePoint now) {
  const config::Defer& defer = *defer_of(scenario_, job);
  const RouteId route = subject_of(job).route;
  dispatch::Terms terms;
  if (defer.traffic_class) {
    job.traffic_class = *defer.traffic_class;
    signals_.record_offered();
    tenants_.record_offered(job.traffic_class, job.demand.tenant_id, 1);
    const overload::AdmissionRequest asking{route, job.traffic_class, job.demand.tenant_id,
                                            nullptr};
    const Verdict verdict = overload::decide(*controller_.plan(), budgets_, asking, now, random_);
    job.passage.token = verdict.token;
    if (verdict.kind == Verdict::Kind::deny || verdict.kind == Verdict::Kind::drop) {
      budgets_.give_back(job.passage.token);
      return {};
    }
    terms = terms_of(job, verdict, now);
    terms.tenant_weight = 1;
    terms.deadline = terms.answer_by = kNever;  // those of its client's wait
  } else {
    terms.traffic_class = scenario_.config.lowest_class();
    terms.in_background = terms.has_time = true;
    terms.cost = times_.cost.estimate(route, false);
  }
  const Offer offer = scheduler_.offer(job, terms, now);
  Admission admission;
  admission.evicted = static_cast<Request*>(offer.evicted);
  if (offer.kind == Offer::Kind::granted) admission.entry = Entry::start;
  if (offer.kind == Offer::Kind::queued) admission.entry = Entry::wait;
  if (offer.kind == Offer::Kind::refused) budgets_.give_back(job.passage.token);
  return admission;
}

}  // namespace spillway::simulate
