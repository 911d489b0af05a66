// Clients of what is stored, overloaded, half dead or broken. They put up with a refusal, but not
// with another's answer, half of one that looks whole, or none at all.
#include <array>
#include <string>

#include "system/soak/clients.hpp"
#include "system/soak/expected.hpp"
#include "system/soak/faults.hpp"

namespace spillway::soak {

namespace {

constexpr std::array<std::string_view, 4> kLanguages{"", "de", "en", "fr"};
constexpr std::array<std::string_view, 7> kDeadlines{
    "X-Request-Deadline: 80ms\r\n", "X-Request-Deadline: 2s\r\n",
    "X-Request-Deadline: 0ms\r\n",  "X-Request-Deadline: 1700000000000\r\n",
    "X-Request-Deadline: soon\r\n", "grpc-timeout: 40m\r\n",
    "grpc-timeout: 99999999H\r\n"};

// One of the things that many ask for.
Asked popular(Player& player, std::string_view route, std::size_t things) {
  const std::size_t thing = player.random.below(things);
  Asked asked{.target = "/" + std::string(route) + "/thing-" + std::to_string(thing) +
                        "?cache=1&delay=" + std::to_string(thing % 10) +
                        "&size=" + std::to_string(thing * 97 % 40'000)};
  asked.language = player.random.pick(kLanguages);
  if (player.random.chance(0.1)) asked.user = "user-" + std::to_string(player.random.below(5));
  if (player.random.chance(0.1)) {
    asked.more_lines =
        "If-None-Match: " + entity_tag(line_of(asked.target, asked.language, asked.user)) + "\r\n";
    asked.has_condition = true;
  }
  if (player.random.chance(0.03)) asked.more_lines += "Cache-Control: no-cache\r\n";
  if (player.random.chance(0.05)) asked.method = "HEAD";
  if (player.random.chance(0.02)) {  // makes void what is stored
    asked.method = "POST";
    asked.more_lines.clear();
    asked.body = "new";
  }
  return asked;
}

}  // namespace

void cached(Player& player) {
  Wire wire = player.connect();
  for (std::size_t left = player.random.between(1, 40); left > 0 && !player.ending(); --left) {
    if (!player.ask(wire, popular(player, "cached", 300))) return;
    player.pause(player.random.below(4));
  }
}

// Of two servers, of which one is away at times.
void stale(Player& player) {
  Wire wire = player.connect();
  for (std::size_t left = player.random.between(1, 40); left > 0 && !player.ending(); --left) {
    Asked asked = popular(player, "stale", 50);
    asked.may_refuse = asked.may_end = true;
    if (!player.ask(wire, asked)) return;
    player.pause(player.random.below(8));
  }
}

void busy(Player& player) {
  Wire wire = player.connect();
  for (std::size_t left = player.random.between(1, 20); left > 0 && !player.ending(); --left) {
    const std::string route = "busy/p" + std::to_string(player.random.below(3));
    Asked asked{.target = player.target(route, "delay=" + std::to_string(player.random.below(6))),
                .may_refuse = true,
                .may_end = true};
    if (player.random.chance(0.2)) asked.more_lines = player.random.pick(kDeadlines);
    if (!player.ask(wire, asked)) return;
    player.pause(player.random.below(20));
  }
}

void pair(Player& player) {
  Wire wire = player.connect();
  for (std::size_t left = player.random.between(1, 20); left > 0 && !player.ending(); --left) {
    Asked asked{
        .target = player.target("pair", "size=" + std::to_string(player.random.below(9000))),
        .may_refuse = true,
        .may_end = true};
    if (player.random.chance(0.2)) {
      asked.method = "POST";
      asked.body = body_of(asked.target, player.random.between(1, 100'000));
    }
    if (!player.ask(wire, asked)) return;
    player.pause(player.random.below(20));
  }
}

void faulty(Player& player) {
  Wire wire = player.connect();
  const std::string_view fault = player.random.pick(kFaults);
  Asked asked{
      .target = player.target("faulty", "size=" + std::to_string(player.random.below(9000)) +
                                            "&fault=" + std::string(fault)),
      .may_refuse = true,
      .may_end = true};
  if (player.random.chance(0.1)) {  // ahead of the body, without a fault
    asked.target = player.target("faulty", "early=1");
    asked.method = "POST";
    asked.body = body_of(asked.target, player.random.between(1, 300'000));
  } else if (player.random.chance(0.2)) {
    asked.method = "PUT";
    asked.body = body_of(asked.target, player.random.between(1, 100'000));
  }
  player.ask(wire, asked);
  player.pause(player.random.between(5, 30));
}

}  // namespace spillway::soak
