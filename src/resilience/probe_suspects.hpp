// The sources of failed responses while a circuit is half-open. One client, or one path, that fails
// says nothing about the server, and must not keep its circuit open for all: it is a suspect, and
// others go before it.
//
// Fixed memory: the last eight failures. One owner.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

#include "resilience/failure_row.hpp"

namespace spillway::resilience {

class ProbeSuspects {
 public:
  static constexpr std::size_t kCapacity = 8;

  bool empty() const { return newest_ == 0; }
  void clear() { newest_ = 0; }

  void failed(const FailureSource& source) { failures_[newest_++ % kCapacity] = {source}; }

  // The client and the path of a success are no longer suspects, each by itself: a client that
  // succeeds on one path may still fail on another.
  void succeeded(const FailureSource& source) {
    for (Failure& one : known()) {
      one.is_client_well = one.is_client_well || one.source.client == source.client;
      one.is_path_well = one.is_path_well || one.source.path == source.path;
    }
  }

  // Whether its client or its path has failed, and has not succeeded since.
  bool has(const FailureSource& source) const {
    return std::ranges::any_of(known(), [&](const Failure& one) {
      return (one.source.client == source.client && !one.is_client_well) ||
             (one.source.path == source.path && !one.is_path_well);
    });
  }

  // Whether neither its client nor its path has failed before, regardless of successes since: a
  // failure of such a source is a second, independent one.
  bool is_independent(const FailureSource& source) const {
    return std::ranges::none_of(known(), [&](const Failure& one) {
      return one.source.client == source.client || one.source.path == source.path;
    });
  }

 private:
  struct Failure {
    FailureSource source;
    bool is_client_well = false;  // has succeeded since
    bool is_path_well = false;    // the same
  };

  std::span<Failure> known() { return {failures_.data(), std::min(newest_, kCapacity)}; }
  std::span<const Failure> known() const {
    return {failures_.data(), std::min(newest_, kCapacity)};
  }

  std::array<Failure, kCapacity> failures_{};
  std::size_t newest_ = 0;  // the number of failures recorded
};

}  // namespace spillway::resilience
