// A waiting room's places in a file, and a system clock that is set back.
#include "proxy/waiting/place_keeper.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "support/temporary_directory.hpp"

namespace spillway::proxy {
namespace {

std::unique_ptr<store::PlaceStore> open_at(const std::filesystem::path& file) {
  store::OpenedPlaces opened = store::open_places(file, {1});
  if (!opened.store) FAIL(opened.failure.text);
  return std::move(opened.store);
}

store::PlacesRead read(const std::filesystem::path& file) {
  store::PlacesRead read;
  REQUIRE(!open_at(file)->read(read));
  return read;
}

}  // namespace

TEST_CASE("when the clock was set back far, that a secret signs is moved back with it, for good") {
  constexpr std::chrono::hours kBack{10};
  const support::TemporaryDirectory directory;
  const std::filesystem::path file = directory.path() / "places.db";
  const auto context =
      std::make_shared<VisitorContext>(waiting::TokenKeys(HmacKey{}), SipKey{1, 2});
  const waiting::Time now = context->clock.at(Clock::now());
  waiting::TokenSecrets secrets = waiting::first_secrets({1});
  secrets.former = HmacKey{2};
  secrets.since = now + kBack - std::chrono::hours(1);
  {
    const auto store = open_at(file);
    REQUIRE(!store->keep(secrets));
    REQUIRE(!store->write({}, now + kBack, {}));
  }
  {
    PlaceKeeper keeper(context, [](const store::Failure&) {});
    REQUIRE(!keeper.open(file, {}));
  }
  const store::PlacesRead after = read(file);
  CHECK(after.secrets == context->keys.secrets());
  CHECK(after.secrets.since <= now - std::chrono::minutes(59));
  CHECK(after.secrets.since >= now - std::chrono::minutes(61));
  CHECK(after.secrets.former == HmacKey{2});
}

TEST_CASE(
    "a process without waiting rooms deletes what a file has of others, and keeps the secret") {
  const support::TemporaryDirectory directory;
  const std::filesystem::path file = directory.path() / "places.db";
  const waiting::Time until{Milliseconds(1'000'000)};
  waiting::TokenSecrets secrets;
  {
    const auto store = open_at(file);
    const waiting::Place place{.id = {{1}}, .since = until};
    const waiting::Place ended{.id = {{2}}, .kind = waiting::Place::Kind::ended, .since = until};
    const std::vector<store::PlaceChanges> changes{{"sale", false, {place, ended}},
                                                   {"shop", false, {}, waiting::Orders{}}};
    REQUIRE(!store->write(changes, until, until));
    store::PlacesRead before;
    REQUIRE(!store->read(before));
    REQUIRE(before.rooms.size() == 1);
    REQUIRE(before.orders.size() == 1);
    secrets = before.secrets;
  }
  REQUIRE(!forget_places(file));
  const store::PlacesRead after = read(file);
  CHECK(after.rooms.empty());
  CHECK(after.orders.empty());
  CHECK(after.secrets == secrets);
  CHECK(after.until == until);
}

}  // namespace spillway::proxy
