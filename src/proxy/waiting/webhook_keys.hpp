// The keys with which waiting rooms sign what they tell their webhooks.
#pragma once

#include <optional>
#include <vector>

#include "base/hmac.hpp"
#include "config/config.hpp"

namespace spillway::proxy {

// By route; nullopt where it has no webhook.
using WebhookKeys = std::vector<std::optional<HmacKey>>;

// Reads the files that the configuration names. Throws std::runtime_error for one that has no key.
WebhookKeys webhook_keys_of(const config::Config& config);

}  // namespace spillway::proxy
