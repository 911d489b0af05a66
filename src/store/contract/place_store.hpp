// The store of places in waiting rooms: SQLite, one file for one process at a time.
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
  waiting::Time until{};       // all changes before it are included
  waiting::Time used_until{};  // last uses of sessions before it are included
  std::map<std::string, std::vector<waiting::Place>> rooms;
  std::map<std::string, waiting::Orders> orders;  // only rooms that have any
};

struct PlaceChanges {
  std::string room;
  bool is_whole = false;  // these are all places of that waiting room
  std::vector<waiting::Place> places;
  std::optional<waiting::Orders> orders{};  // if they have changed
};

class PlaceStore {
 public:
  // How long ended tickets and sessions are remembered: as long as a token from before may turn up
  // for which nothing else has been stored.
  static constexpr Milliseconds kEndedKept{180'000};

  virtual ~PlaceStore() = default;

  virtual std::optional<Failure> read(PlacesRead& into) = 0;
  // Writes all or nothing; durable when it returns nullopt. All changes before `until` are now
  // included, and all last uses of sessions before `used_until`.
  virtual std::optional<Failure> write(std::span<const PlaceChanges> changes, waiting::Time until,
                                       waiting::Time used_until) = 0;
  // Likewise; replaces the stored secrets.
  virtual std::optional<Failure> keep(const waiting::TokenSecrets& secrets) = 0;
};

struct OpenedPlaces {
  std::unique_ptr<PlaceStore> store;  // null: see failure
  Failure failure;
};

// Creates what is missing; `secret` is for a new file. Never overwrites what it cannot read.
OpenedPlaces open_places(const std::filesystem::path& file, const VisitorSecret& secret);

}  // namespace spillway::store
