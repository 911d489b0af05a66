#include "proxy/waiting/webhook_keys.hpp"

#include <filesystem>
#include <stdexcept>

#include "store/key.hpp"

namespace spillway::proxy {

WebhookKeys webhook_keys_of(const config::Config& config) {
  WebhookKeys keys;
  const std::filesystem::path directory = config.store.directory;
  for (const config::Route& route : config.routes) {
    std::optional<HmacKey> key;
    if (route.waiting_room && route.waiting_room->webhook) {
      const store::KeyFile file =
          store::read_key_file(directory / route.waiting_room->webhook->key_file);
      if (!file.key) throw std::runtime_error("the webhook of " + route.name + ": " + file.problem);
      key = file.key->bytes;
    }
    keys.push_back(key);
  }
  return keys;
}

}  // namespace spillway::proxy
