// Proxies that share a waiting room: the secret of its tokens is replaced, and what is gone is
// forgotten.
#include "proxy/waiting/shared_secrets.hpp"

#include <doctest/doctest.h>

#include "unit/proxy/waiting/proxies_in_memory.hpp"

namespace spillway::proxy::in_memory {
namespace {

TEST_CASE("a secret that is replaced at one proxy is known to all before it signs") {
  Database database;
  Proxy first(database, one_place());
  Proxy second(database, one_place());
  const auto number_at = [](Proxy& proxy) { return proxy.context->keys.secrets().number; };
  const TimePoint now = Clock::now();
  const Token stamp = first.stamp(9);
  const waiting::TokenText old = first.room->sign(stamp, now);
  const SecretReply reply = first.keeper.replace_secret({waiting::Replacement::gradual, {7}});
  CHECK(reply.result == SecretResult::replaced);
  CHECK(reply.secrets.number == 2);
  CHECK(first.keeper.replace_secret({waiting::Replacement::gradual, {8}}).result ==
        SecretResult::under_way);
  REQUIRE(second.becomes([&] { return number_at(second) == 2; }));
  CHECK(second.context->keys.secrets() == first.context->keys.secrets());
  // Until it is announced both sign with the former one; that of before counts at both.
  const waiting::TokenText early = first.room->sign(stamp, now);
  CHECK(std::string(early.data(), early.size()) == std::string(old.data(), old.size()));
  const TimePoint later = now + SharedSecrets::kAnnounced + Milliseconds(5000);
  const waiting::TokenText late = first.room->sign(stamp, later);
  CHECK(std::string(late.data(), late.size()) != std::string(old.data(), old.size()));
  for (Proxy* const proxy : {&first, &second}) {
    CHECK(proxy->room->verify({old.data(), old.size()}, later));
    CHECK(proxy->room->verify({late.data(), late.size()}, now));
  }
}

TEST_CASE("a proxy that was cut off knows the secret before its visitors can come back") {
  Database database;
  Proxy first(database, one_place());
  Proxy second(database, one_place());
  second.is_cut = true;
  REQUIRE(second.becomes([&] { return second.failures == 1; }));
  CHECK(second.keeper.replace_secret({waiting::Replacement::at_once, {7}}).result ==
        SecretResult::not_answered);
  REQUIRE(first.keeper.replace_secret({waiting::Replacement::at_once, {8}}).result ==
          SecretResult::replaced);
  second.is_cut = false;
  REQUIRE(second.becomes([&] { return second.context->keeping == PlaceKeeping::works; }));
  CHECK(second.context->keys.secrets() == first.context->keys.secrets());
}

TEST_CASE("a secret that was replaced does not count again when an older database takes over") {
  Database database;
  Proxy proxy(database, one_place());
  const auto restored = [&] {
    const std::lock_guard lock(database.mutex);
    return *database.secrets;
  };
  const waiting::TokenSecrets before = restored();
  const auto replace = [&](std::uint8_t secret) {
    return proxy.keeper.replace_secret({waiting::Replacement::at_once, {secret}});
  };
  const auto goes_back = [&] {
    const std::lock_guard lock(database.mutex);
    database.secrets = before;
  };
  replace(7);
  const waiting::TokenSecrets newest = replace(8).secrets;
  REQUIRE(newest.number == 3);
  SUBCASE("the newer one is written again, and that is told") {
    goes_back();
    CHECK(proxy.becomes([&] { return restored() == newest; }));
    CHECK(proxy.becomes([&] { return proxy.failures == 1; }));
    CHECK(proxy.context->keys.secrets() == newest);
    CHECK(proxy.context->keeping == PlaceKeeping::works);
  }
  SUBCASE("a replacement that comes before follows the newer one") {
    goes_back();
    CHECK(replace(9).secrets.number == 4);
    CHECK(restored().newest == HmacKey{9});
  }
}

TEST_CASE("a former secret that is accepted no more is forgotten") {
  Database database;
  database.secrets = waiting::first_secrets({1});
  database.secrets->former = HmacKey{2};  // replaced in 1970
  Proxy proxy(database, one_place());
  CHECK(proxy.becomes([&] { return !proxy.context->keys.secrets().former; }));
  const std::lock_guard lock(database.mutex);
  CHECK_FALSE(database.secrets->former);
}

TEST_CASE("of gone waiting rooms a proxy asks the database to keep its own") {
  Database database;
  Proxy proxy(database, one_place());
  CHECK(proxy.becomes([&] {
    const std::lock_guard lock(database.mutex);
    return database.kept == std::vector<std::string>{"sale"};
  }));
}

}  // namespace
}  // namespace spillway::proxy::in_memory
