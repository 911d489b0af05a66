#include "waiting/ticket/webhook.hpp"

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

std::string webhook_body(const TicketEvent& ticket_event, std::string_view room,
                         std::string_view tier) {
  std::string json = "{\"event\":\"";
  json.append(config::name(ticket_event.event)).append("\"");
  add(json, "room", room);
  add(json, "ticket", to_text(ticket_event.id));
  add(json, "tier", tier);
  json += ",\"waited_ms\":" + std::to_string(ticket_event.waited.count());
  if (ticket_event.position > 0) json += ",\"position\":" + std::to_string(ticket_event.position);
  if (!ticket_event.type.empty()) add(json, "type", ticket_event.type);
  if (!ticket_event.resource.empty()) add(json, "resource", ticket_event.resource);
  if (ticket_event.is_reserved) json += ",\"reserved\":true";
  if (ticket_event.is_reserved && ticket_event.claim > Milliseconds(0))
    json += ",\"claim_ms\":" + std::to_string(ticket_event.claim.count());
  if (!ticket_event.user.empty()) json += ",\"user\":" + ticket_event.user;
  if (ticket_event.cause) add(json, "cause", name(*ticket_event.cause));
  add(json, "at", spillway::to_text(ticket_event.at));
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
