// Since when answers to a URI must have been asked for to be good: a small table of times, so that
// a URI's answers, however many, are ended at once.
//
// Each place of the table knows the last few of its URIs that were ended. Of one that is pushed out
// by another it keeps only the time, and from then on ends everything in the place that was asked
// for before: too much at times, never too little.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/time.hpp"

namespace spillway::cache {

class Stamps {
 public:
  static constexpr std::size_t kUrisInPlace = 3;

  // Room for about as many URIs.
  explicit Stamps(std::size_t uris)
      : places_(std::bit_ceil(std::max<std::size_t>(uris / kUrisInPlace, 1))) {}

  void end(std::uint64_t uri_hash, TimePoint now) {
    Place& place = place_of(uri_hash);
    Stamp* oldest = place.latest.data();
    for (Stamp& stamp : place.latest) {
      if (stamp.uri_hash == uri_hash) {
        stamp.at = std::max(stamp.at, now);
        return;
      }
      if (stamp.at < oldest->at) oldest = &stamp;
    }
    place.others = std::max(place.others, oldest->at);
    *oldest = {uri_hash, now};
  }
  // Those asked for in the same instant may be from before.
  bool has_ended(std::uint64_t uri_hash, TimePoint requested_at) const {
    const Place& place = place_of(uri_hash);
    if (requested_at <= place.others) return true;
    for (const Stamp& stamp : place.latest) {
      if (stamp.uri_hash == uri_hash) return requested_at <= stamp.at;
    }
    return false;
  }

  std::size_t bytes() const { return places_.capacity() * sizeof(Place); }

 private:
  struct Stamp {
    std::uint64_t uri_hash = 0;
    TimePoint at = TimePoint::min();
  };
  struct Place {
    std::array<Stamp, kUrisInPlace> latest;
    TimePoint others = TimePoint::min();
  };

  // Shards go by the lowest bits.
  std::size_t index_of(std::uint64_t hash) const { return (hash >> 8) & (places_.size() - 1); }
  Place& place_of(std::uint64_t hash) { return places_[index_of(hash)]; }
  const Place& place_of(std::uint64_t hash) const { return places_[index_of(hash)]; }

  std::vector<Place> places_;
};

}  // namespace spillway::cache
