// Where the places of waiting rooms are kept: SQLite, one file for one process at a time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "store/contract/failure.hpp"
#include "waiting/place/place.hpp"
#include "waiting/token/token_secrets.hpp"

namespace spillway::store {

using VisitorSecret = HmacKey;

struct PlacesRead {
  waiting::TokenSecrets secrets{};
  waiting::Time until{};       // what changed before is in it
  waiting::Time used_until{};  // with the last uses of sessions before
  std::map<std::string, std::vector<waiting::Place>> rooms;
  std::map<std::string, waiting::Orders> orders;  // of those about which there are any
};

struct PlaceChanges {
  std::string room;
  bool is_whole = false;  // these are all of that waiting room
  std::vector<waiting::Place> places;
  std::optional<waiting::Orders> orders{};  // if they have changed
};

class PlaceStore {
 public:
  // How long it is remembered that a ticket or session has ended: as long as a token of before
  // may turn up for which nothing was written.
  static constexpr Milliseconds kEndedKept{180'000};

  virtual ~PlaceStore() = default;

  virtual std::optional<Failure> read(PlacesRead& into) = 0;
  // All of them or none; durable when it returns nullopt. `until`: what changed before is in it
  // now, and up to `used_until` all last uses of sessions.
  virtual std::optional<Failure> write(std::span<const PlaceChanges> changes, waiting::Time until,
                                       waiting::Time used_until) = 0;
  // Likewise, in place of those that are there.
  virtual std::optional<Failure> keep(const waiting::TokenSecrets& secrets) = 0;
};

struct OpenedPlaces {
  std::unique_ptr<PlaceStore> store;  // null: see failure
  Failure failure;
};

// Creates what is missing; `secret`: of a new file. Never overwrites what it cannot read.
OpenedPlaces open_places(const std::filesystem::path& file, const VisitorSecret& secret);

}  // namespace spillway::store
