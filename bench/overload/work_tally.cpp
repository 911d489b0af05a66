#include "bench/overload/work_tally.hpp"

#include "bench/load/percentile.hpp"

namespace spillway::bench {

void WorkTally::add(const load::Work& work, TimePoint now) {
  if (!work.number || now < from_ || now >= until_) return;
  const double service = to_seconds(work.service);
  service_ += service;
  held_ += to_seconds(work.held);
  late_.push_back(work.held - work.service);
  if (work.gone || !awaited_.wanted(*work.number)) wasted_ += service;
}

double WorkTally::wasted_ratio() const { return service_ > 0 ? wasted_ / service_ : 0; }

double WorkTally::stretch() const { return service_ > 0 ? held_ / service_ : 1; }

Duration WorkTally::mean_service() const {
  return late_.empty() ? Duration::zero()
                       : from_seconds(service_ / static_cast<double>(late_.size()));
}

Duration WorkTally::late_p99() const { return load::percentile(late_, 0.99); }

}  // namespace spillway::bench
