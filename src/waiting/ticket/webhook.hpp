// The request that sends an event to a webhook, and its signature (as in Standard Webhooks).
#pragma once

#include <string>
#include <string_view>

#include "base/hmac.hpp"
#include "waiting/ticket/ticket_events.hpp"

namespace spillway::waiting {

// JSON, one line.
std::string webhook_body(const TicketEvent& ticket_event, std::string_view room,
                         std::string_view tier);

// The field lines with its signature: Webhook-Id, Webhook-Timestamp (of the event) and
// Webhook-Signature, which is "v1," and the base64 of HMAC-SHA256(key, "id.timestamp.body").
std::string webhook_fields(const HmacKey& key, std::string_view id, Time at, std::string_view body);

}  // namespace spillway::waiting
