// What every refusal must look like to a client, whatever its reason.
#pragma once

#include <doctest/doctest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "support/message.hpp"

namespace spillway {

inline std::string reason_of(const support::Message& refusal) {
  return nlohmann::json::parse(refusal.body).at("reason");
}

// Header and body say the same; the body is RFC 9457 JSON.
inline void check_refusal(const support::Message& refusal, int status,
                          std::string_view traffic_class, std::string_view reason) {
  INFO(refusal.start_line, "\n", refusal.body);
  REQUIRE(refusal.status() == status);
  CHECK(refusal.field("Content-Type") == "application/problem+json");
  CHECK(refusal.field("Cache-Control") == "no-store");
  const auto body = nlohmann::json::parse(refusal.body);
  CHECK(body.at("status") == status);
  CHECK(body.at("class") == traffic_class);
  CHECK(body.at("reason") == reason);
  CHECK(body.at("request_id") == refusal.field("X-Request-Id").value_or(""));

  const std::string proxy_status = refusal.field("Proxy-Status").value_or("");
  CHECK(proxy_status.starts_with("spillway; error="));
  CHECK(proxy_status.find("details=\"" + std::string(reason) + "\"") != std::string::npos);

  const int seconds = std::atoi(refusal.field("Retry-After").value_or("").c_str());
  const int milliseconds = body.at("retry_after_ms");
  CHECK(milliseconds > 0);
  CHECK(milliseconds <= 1000 * seconds);
  CHECK(milliseconds > 1000 * (seconds - 1));
}

}  // namespace spillway
