// Who is told what becomes of tickets, and a sale that tells it.
#pragma once

#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "support/temporary_directory.hpp"
#include "system/integration/sale.hpp"

namespace spillway::support {

inline const std::string kWebhookSecret = "0123456789abcdefghijklmnopqrstuv";

// Answers 500 to the first few, else 204.
class Receiver {
 public:
  explicit Receiver(std::size_t failures = 0)
      : peer_([this, failures](PeerConnection& proxy) {
          while (const auto request = proxy.read_request()) {
            std::unique_lock lock(mutex_);
            requests_.push_back(*request);
            const bool fails = requests_.size() <= failures;
            came_.notify_all();
            lock.unlock();
            proxy.send(fails ? "HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n"
                             : "HTTP/1.1 204 OK\r\n\r\n");
          }
        }) {}

  std::string address() const { return peer_.address(); }
  // Once there are so many.
  std::vector<Message> requests(std::size_t count) {
    std::unique_lock lock(mutex_);
    came_.wait_for(lock, kPatience, [&] { return requests_.size() >= count; });
    return requests_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable came_;
  std::vector<Message> requests_;
  ScriptedPeer peer_;
};

// A file with its key.
inline std::string webhook_key(const TemporaryDirectory& directory) {
  const std::filesystem::path known = directory.path() / "webhook.key";
  if (std::filesystem::exists(known)) return known.string();
  const auto key = directory.write("webhook.key", kWebhookSecret);
  std::filesystem::permissions(key, std::filesystem::perms::owner_read);
  return key.string();
}

// The route by which it is told.
inline nlohmann::json hooks() {
  return {{"name", "hooks"},
          {"match", nlohmann::json::object()},
          {"internal", true},
          {"defer", {{"backoff", {{"base_ms", 1}, {"max_ms", 1}}}}}};
}

inline nlohmann::json telling(const TemporaryDirectory& directory, const std::string& shop,
                              const std::string& receiver,
                              nlohmann::json webhook = nlohmann::json::object()) {
  webhook.merge_patch(
      {{"route", "hooks"}, {"path", "/waiting?v=1"}, {"key_file", webhook_key(directory)}});
  nlohmann::json settings =
      selling(always(), {{"upstreams",
                          {{{"name", "app"}, {"servers", nlohmann::json::array({shop})}},
                           {{"name", "mailer"}, {"servers", nlohmann::json::array({receiver})}}}}});
  settings["routes"][0]["waiting_room"]["webhook"] = webhook;
  nlohmann::json route = hooks();
  route["upstream"] = "mailer";
  settings["routes"].push_back(std::move(route));
  return settings;
}

inline std::string event_of(const Message& request) {
  return nlohmann::json::parse(request.body)["event"];
}

}  // namespace spillway::support
