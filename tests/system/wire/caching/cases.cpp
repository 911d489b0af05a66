#include "system/wire/caching/cases.hpp"

namespace spillway::wire::caching {

std::vector<Case> caching_cases() {
  std::vector<Case> all;
  for (const auto& some :
       {storing_cases(), stored_field_cases(), person_cases(), freshness_cases(), age_cases(),
        vary_cases(), validation_cases(), condition_cases(), invalidation_cases(), request_cases(),
        stale_cases(), status_field_cases()}) {
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

}  // namespace spillway::wire::caching
