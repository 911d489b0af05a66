#include "waiting/webhook.hpp"

#include <chrono>

#include "base/base64.hpp"
#include "base/time_text.hpp"
#include "config/choices.hpp"

namespace spillway::waiting {

namespace {

// Names of rooms, tiers and resources have no characters that JSON escapes.
void add(std::string& json, std::string_view name, std::string_view text) {
  json.append(",\"").append(name).append("\":\"").append(text).append("\"");
}

}  // namespace

std::string webhook_body(const Happening& happening, std::string_view room, std::string_view tier) {
  std::string json = "{\"event\":\"";
  json.append(config::name(happening.event)).append("\"");
  add(json, "room", room);
  add(json, "ticket", to_text(happening.id));
  add(json, "tier", tier);
  json += ",\"waited_ms\":" + std::to_string(happening.waited.count());
  if (happening.position > 0) json += ",\"position\":" + std::to_string(happening.position);
  if (!happening.type.empty()) add(json, "type", happening.type);
  if (!happening.resource.empty()) add(json, "resource", happening.resource);
  if (happening.is_reserved) json += ",\"reserved\":true";
  if (happening.is_reserved && happening.claim > Milliseconds(0))
    json += ",\"claim_ms\":" + std::to_string(happening.claim.count());
  if (!happening.user.empty()) json += ",\"user\":" + happening.user;
  if (happening.cause) add(json, "cause", name(*happening.cause));
  add(json, "at", spillway::to_text(happening.at));
  return json + "}";
}

std::string webhook_fields(const HmacKey& key, std::string_view id, Time at,
                           std::string_view body) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(at).time_since_epoch().count();
  const std::string timestamp = std::to_string(seconds);
  std::string text(id);
  text.append(".").append(timestamp).append(".").append(body);
  const Sha256 code = hmac_sha256(key, text);
  const std::string signature = base64({reinterpret_cast<const char*>(code.data()), code.size()});
  std::string fields = "Webhook-Id: ";
  fields.append(id).append("\r\nWebhook-Timestamp: ").append(timestamp);
  return fields.append("\r\nWebhook-Signature: v1,").append(signature).append("\r\n");
}

}  // namespace spillway::waiting
