// `spillway rooms` on a proxy that runs.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "repo/cli/command.hpp"
#include "system/integration/sale.hpp"

using namespace spillway::support;
using cli::contains;
using nlohmann::json;

namespace {

cli::Result rooms(const ProxyUnderTest& proxy, const std::string& arguments, int code = 0) {
  const std::size_t end = std::min(arguments.find(' '), arguments.size());
  cli::Result result = cli::run("rooms " + arguments.substr(0, end) + " --admin http://127.0.0.1:" +
                                std::to_string(proxy.admin_port()) + arguments.substr(end));
  CAPTURE(arguments);
  CAPTURE(result.out);
  CAPTURE(result.err);
  CHECK(result.code == code);
  return result;
}

}  // namespace

TEST_CASE("the command line shows waiting rooms and tickets, and does what the operator may do") {
  Shop shop;
  ProxyUnderTest proxy(shop.address(), selling({{"active_sessions", 1}, {"when", "always"}}));
  CHECK(contains(rooms(proxy, "pause sale").out, "open (visitors wait), paused\n"));
  Visitor first(proxy), second(proxy);
  first.join();
  second.join();
  const std::string ids[]{first.poll().at("id"), second.poll().at("id")};

  CHECK(contains(rooms(proxy, "list").out, "sale "));
  const std::string listed = rooms(proxy, "list sale").out;
  CHECK(listed.starts_with("ID "));
  CHECK(listed.find(ids[0]) < listed.find(ids[1]));
  const std::string part = rooms(proxy, "list sale --limit 1").out;
  const std::string more = "There may be more: --after ";
  REQUIRE(contains(part, more));
  const std::string after = part.substr(part.find(more) + more.size());
  const std::string rest =
      rooms(proxy, "list sale --after " + after.substr(0, after.size() - 1)).out;
  CHECK(contains(rest, ids[1]));
  CHECK_FALSE(contains(rest, ids[0]));
  CHECK(json::parse(rooms(proxy, "list sale --json").out).at("tickets").size() == 2);
  CHECK(contains(rooms(proxy, "show sale").out, "waiting                2\n"));
  CHECK(contains(rooms(proxy, "show sale " + ids[1]).out, "position               2\n"));

  CHECK(rooms(proxy, "move sale " + ids[1]).out == "It has place 1 now.\n");
  CHECK(rooms(proxy, "move sale " + ids[1] + " --to 2").out == "It has place 2 now.\n");
  const std::string called = rooms(proxy, "call sale --count 2").out;
  CHECK(contains(called, "called  " + ids[0]));
  CHECK(contains(called, "failed  no_room: "));
  CHECK(contains(rooms(proxy, "call sale", 1).out, "no_room"));
  CHECK(rooms(proxy, "cancel sale " + ids[0] + " --reason 'no show'").out == "Cancelled.\n");
  CHECK(contains(rooms(proxy, "cancel sale " + ids[0], 1).err, "there is no such ticket"));
  CHECK(contains(rooms(proxy, "resume sale").out, "open (visitors wait)\n"));
  CHECK(contains(rooms(proxy, "open sale").out, "held open (visitors wait)\n"));
  CHECK_FALSE(contains(rooms(proxy, "close sale").out, "held"));
  CHECK(contains(rooms(proxy, "message sale 'Sold out' --ends --yes").out, "ended\n"));
  CHECK(second.poll().at("message") == "Sold out");
  CHECK(contains(rooms(proxy, "show sale").out, "message                Sold out\n"));
  CHECK_FALSE(contains(rooms(proxy, "message sale --goes-on").out, "ended"));
  CHECK(rooms(proxy, "secret").out == "Secret 1.\n");
  CHECK(contains(rooms(proxy, "replace-secret").out, ", the former one counts until 2"));
  CHECK(contains(rooms(proxy, "replace-secret", 1).err, "only be replaced at once"));
  CHECK(rooms(proxy, "replace-secret --at-once --yes").out.starts_with("Secret 3, signs from 2"));
}

TEST_CASE("the command line ends all tickets, or loses them, only with --yes") {
  Shop shop;
  ProxyUnderTest proxy(shop.address(), selling({{"active_sessions", 1}, {"when", "always"}}));
  const std::string unchanged = "Nothing was changed. With --yes it is done.\n";
  rooms(proxy, "pause sale");
  Visitor first(proxy), second(proxy);
  first.join();
  second.join();
  CHECK(rooms(proxy, "message sale 'Sold out' --ends").out ==
        "2 tickets would end, and none comes back; sessions go on.\n" + unchanged);
  CHECK(rooms(proxy, "replace-secret --at-once").out ==
        "2 tickets and 0 sessions would be lost: all visitors arrive anew.\n" + unchanged);
  CHECK(json::parse(rooms(proxy, "message sale --ends --json").out).at("waiting") == 2);
  CHECK(first.poll().at("state") == "waiting");
  CHECK(second.poll().value("message", "") == "");
  CHECK(rooms(proxy, "secret").out == "Secret 1.\n");
  CHECK(contains(rooms(proxy, "message none --ends", 1).err, "has this name"));
  rooms(proxy, "resume sale");
  REQUIRE(first.is_called());
  CHECK(rooms(proxy, "message sale --ends").out.starts_with("2 tickets would end"));
  CHECK(is_in(first.visit()));
  CHECK(rooms(proxy, "message sale --ends").out.starts_with("1 ticket would end"));
  CHECK(rooms(proxy, "replace-secret --at-once").out.starts_with("1 ticket and 1 session would"));
}

TEST_CASE("the command line of waiting rooms tells what went wrong by text and exit code") {
  Shop shop;
  ProxyUnderTest proxy(shop.address(), selling(json::object()));
  CHECK(contains(rooms(proxy, "show none", 1).err, "has this name"));
  CHECK(contains(rooms(proxy, "list sale --status gone", 2).err, "\"status\" must be one of"));
  CHECK(contains(rooms(proxy, "message sale", 2).err, "\"text\", \"ends\" or both are needed"));
  rooms(proxy, "show sale xyz", 2);
  rooms(proxy, "move sale " + std::string(32, '0') + " --to back", 2);
  rooms(proxy, "call sale --count 51", 2);
  rooms(proxy, "message sale x --ends --goes-on", 2);
  rooms(proxy, "pause", 2);
}
