// The kinds of clients that the soak sends, all at once. Each session is short and does what its
// seed says; an exception out of one is a failure.
#pragma once

#include <span>
#include <string_view>

#include "system/soak/player.hpp"

namespace spillway::soak {

struct Kind {
  std::string_view name;
  int clients;  // threads
  void (*session)(Player&);
};

std::span<const Kind> kinds();

// Well behaved, and always served (good_clients.cpp).
void keep_alive(Player& player);
void post(Player& player);
void pipeline(Player& player);
void fresh_connection(Player& player);

// Well behaved and slow, or hardly behaved (slow_clients.cpp).
void slow_reader(Player& player);
void slow_sender(Player& player);
void slowloris(Player& player);
void dawdle(Player& player);

// They leave at any moment (leaving_clients.cpp).
void leave(Player& player);

// They try to break in (hostile_clients.cpp).
void smuggle(Player& player);
void garble(Player& player);
void huge_head(Player& player);

// What they ask for is stored, overloaded, or broken (demanding_clients.cpp).
void cached(Player& player);
void stale(Player& player);
void busy(Player& player);
void pair(Player& player);
void faulty(Player& player);

// Connections that outlive a request (tunnel_clients.cpp).
void tunnel(Player& player);
void event_stream(Player& player);

// The operator (operator_clients.cpp).
void scrape(Player& player);

}  // namespace spillway::soak
