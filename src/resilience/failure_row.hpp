// Failed responses of one server in a row, judged by their clients: one client, or one path, that
// fails on every server says nothing about this server.
//
// A failed response counts if neither its client nor its path occurs earlier in the row, or if the
// same client and path have since succeeded at another server. It also counts if its client is new
// and its path has succeeded at another server: an API may have a single path. Of the others one in
// ten counts, and only if another server does not fail: a server with a single client (a gateway)
// fails for a single client, too.
//
// Fixed memory: the last eight sources of the row. One owner.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace spillway::resilience {

// Hashes; any value that a client may choose is hashed with a secret key.
struct FailureSource {
  std::uint64_t client = 0;
  std::uint64_t path = 0;

  friend bool operator==(const FailureSource&, const FailureSource&) = default;
};

class FailureRow {
 public:
  static constexpr std::size_t kSources = 8;
  static constexpr std::uint32_t kRepeats = 10;  // this many count as one failure

  // Whether one more failed response of the row counts. `is_another_well`: some other server has
  // not failed since its last success.
  bool counts(const FailureSource& source, bool is_another_well) {
    bool is_known = false, has_client = false, has_path = false, is_path_well = false;
    for (const Entry& one : remembered()) {
      if (one.source == source && one.is_well_elsewhere) return true;
      is_known = is_known || one.source == source;
      has_client = has_client || one.source.client == source.client;
      has_path = has_path || one.source.path == source.path;
      is_path_well = is_path_well || (one.source.path == source.path && one.is_path_well_elsewhere);
    }
    if (!is_known)
      sources_[newest_++ % kSources] = {.source = source, .is_path_well_elsewhere = is_path_well};
    if (!has_client && (!has_path || is_path_well)) return true;
    return is_another_well && ++repeats_ % kRepeats == 0;
  }

  // A request of the same source has succeeded at another server.
  void succeeded_elsewhere(const FailureSource& source) {
    for (Entry& one : remembered()) {
      if (one.source == source) one.is_well_elsewhere = true;
      if (one.source.path == source.path) one.is_path_well_elsewhere = true;
    }
  }

  void clear() {
    newest_ = 0;
    repeats_ = 0;
  }

  // Whether a success of that source elsewhere could change anything: whether one of its bits is
  // among those of bits(). A filter (Bloom, "Space/time trade-offs in hash coding", CACM 1970) of
  // sources and of paths, with a single hash each.
  static std::uint64_t bits_of(const FailureSource& source) {
    return bit_of_both(source) | bit_of_path(source);
  }
  std::uint64_t bits() const {
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < std::min(newest_, kSources); ++i) {
      const Entry& one = sources_[i];
      if (!one.is_well_elsewhere) bits |= bit_of_both(one.source);
      if (!one.is_path_well_elsewhere) bits |= bit_of_path(one.source);
    }
    return bits;
  }

 private:
  struct Entry {
    FailureSource source;
    bool is_well_elsewhere = false;       // that client and path
    bool is_path_well_elsewhere = false;  // for any client
  };

  static std::uint64_t bit_of_both(const FailureSource& source) {
    return std::uint64_t{1} << ((source.client ^ source.path) >> 58);
  }
  static std::uint64_t bit_of_path(const FailureSource& source) {
    return std::uint64_t{1} << (source.path & 63);
  }

  std::span<Entry> remembered() { return {sources_.data(), std::min(newest_, kSources)}; }

  std::array<Entry, kSources> sources_{};
  std::size_t newest_ = 0;  // the number of sources recorded
  std::uint32_t repeats_ = 0;
};

}  // namespace spillway::resilience
