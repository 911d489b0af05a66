#include "system/soak/settings.hpp"

#include <nlohmann/json.hpp>
#include <string_view>

#include "system/soak/expected.hpp"

namespace spillway::soak {

namespace {

using Json = nlohmann::json;

Json address(std::uint16_t port) { return "127.0.0.1:" + std::to_string(port); }

// Never overloaded, however slow a machine with a sanitizer is: whoever asks it must be served.
Json calm_overload() {
  return {{"enter",
           {{"inflight_ratio", nullptr},
            {"queue_ratio", nullptr},
            {"queue_wait_p95_ms", nullptr},
            {"event_loop_lag_ms", nullptr},
            {"error_rate", nullptr}}}};
}

Json classes() {
  Json all = Json::array();
  for (const char* name : {"P0", "P1", "P2"})
    all.push_back({{"name", name}, {"max_queue", 32}, {"sla_ms", 400}, {"max_wait_ms", 150}});
  // Of those that must be served.
  all.push_back(
      {{"name", "patient"}, {"max_queue", 4096}, {"sla_ms", 60'000}, {"max_wait_ms", 60'000}});
  return all;
}

Json route(const std::string& name, const char* path, const char* traffic_class,
           const char* upstream) {
  return {{"name", name},
          {"match", {{"path", path}}},
          {"class", traffic_class},
          {"upstream", upstream}};
}

Json routes(Variant variant) {
  Json all = {route("calm", "/calm/**", "patient", "calm"),
              route("tunnel", "/tunnel/**", "patient", "calm"),
              route("events", "/events/**", "patient", "calm"),
              route("cached", "/cached/**", "patient", "calm"),
              route("stale", "/stale/**", "patient", "pair"),
              route("pair", "/pair/**", "patient", "pair"),
              route("faulty", "/faulty/**", "patient", "faulty"),
              route("p0", "/busy/p0/**", "P0", "busy"),
              route("p1", "/busy/p1/**", "P1", "busy"),
              route("p2", "/busy/p2/**", "P2", "busy")};
  for (Json& each : all) {
    if (each["name"] == "cached") {
      // Too small for all that is asked for, so that something always has to go.
      each["cache"] = {{"max_bytes", 4 << 20}, {"serve", "fresh"}, {"vary", {"X-Language"}}};
    }
    if (each["name"] == "stale")
      each["cache"] = {{"max_bytes", 2 << 20}, {"ttl_ms", 500}, {"stale_ms", 60'000}};
    if (each["name"] == "p1") {
      each["cache"] = {{"max_bytes", 1 << 20}, {"ttl_ms", 200}};
      each["fallback"] = {{"status", 503},
                          {"headers", {{kPreparedField, "yes"}}},
                          {"json", {{"body", R"({"busy": true})"}}},
                          {"html", {{"body", "<p>busy</p>"}}}};
    }
  }
  if (variant == Variant::second) all.push_back(route("more", "/more/**", "P1", "busy"));
  return all;
}

}  // namespace

std::string settings(const Servers& servers, Variant variant) {
  const bool is_second = variant == Variant::second;
  Json busy_overload = {
      {"cooldown_ms", 500},
      {"enter", {{"event_loop_lag_ms", nullptr}, {"queue_ratio", 0.5}, {"queue_wait_p95_ms", 60}}},
      {"exit", {{"event_loop_lag_ms", nullptr}, {"queue_ratio", 0.3}, {"queue_wait_p95_ms", 30}}},
      {"rules",
       {{"P0", {{"strategy", "allow"}}},
        {"P1", {{"strategy", "degrade"}, {"mode", "stale_ok"}, {"miss", "fallback"}}},
        {"P2", {{"strategy", is_second ? "deny" : "drop"}, {"probability", 0.7}}}}}};
  const Json pair_breaker = {{"consecutive_failures", 5}, {"open_ms", 200}, {"max_open_ms", 1000}};
  Json all = {
      {"listen", {{"port", 0}}},
      {"admin", {{"port", 0}}},
      {"workers", 2},
      {"limits",
       {{"header_timeout_ms", 2000},
        {"idle_timeout_ms", 8000},
        {"drain_timeout_ms", 8000},
        {"connections_per_address", 12},
        {"tunnels", 5},
        {"tunnel_idle_timeout_ms", 3000}}},
      {"classes", classes()},
      {"routes", routes(variant)},
      {"upstreams",
       {{{"name", "calm"},
         {"servers", {address(servers.calm)}},
         {"dispatch", {{"concurrency", 256}}},
         {"overload", calm_overload()}},
        {{"name", "busy"},
         {"servers", {address(servers.busy)}},
         {"dispatch", {{"concurrency", is_second ? 6 : 4}}},
         {"overload", busy_overload}},
        {{"name", "pair"},
         {"servers", {address(servers.first), address(servers.second)}},
         {"dispatch", {{"concurrency", 32}}},
         {"circuit_breaker", pair_breaker},
         {"ejection", {{"base_ms", 500}, {"max_ms", 2000}}},
         {"health_check",
          {{"path", "/health"}, {"interval_ms", is_second ? 500 : 700}, {"timeout_ms", 500}}},
         {"balance", is_second ? "power_of_two" : "least_inflight"},
         {"connect_timeout_ms", 500},
         {"response_timeout_ms", 2000},
         {"overload", calm_overload()}},
        {{"name", "faulty"},
         {"servers", {address(servers.faulty)}},
         {"dispatch", {{"concurrency", 16}}},
         {"response_timeout_ms", 500},
         {"overload", calm_overload()}}}},
      {"log", {{"access_sample", is_second ? 0.01 : 0.001}}}};
  if (variant == Variant::wrong) all["upstreams"][0]["servers"] = {"nowhere"};
  return all.dump(1);
}

}  // namespace spillway::soak
