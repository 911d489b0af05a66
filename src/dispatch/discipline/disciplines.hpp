// The disciplines of `dispatch.discipline`, each in a file of its name.
#pragma once

#include <cstddef>
#include <memory>

#include "base/time.hpp"
#include "dispatch/discipline/discipline.hpp"

namespace spillway::dispatch {

std::unique_ptr<Discipline> make_strict_priority(const Weights& weights, std::size_t classes);
std::unique_ptr<Discipline> make_round_robin(const Weights& weights, std::size_t classes);
std::unique_ptr<Discipline> make_weighted_round_robin(const Weights& weights, std::size_t classes);
std::unique_ptr<Discipline> make_deficit_round_robin(const Weights& weights, std::size_t classes);
std::unique_ptr<Discipline> make_fair_share(const Weights& weights, std::size_t classes);
// half_life > 0.
std::unique_ptr<Discipline> make_aging(const Weights& weights, std::size_t classes,
                                       Duration half_life);
std::unique_ptr<Discipline> make_earliest_deadline(const Weights& weights, std::size_t classes);

}  // namespace spillway::dispatch
