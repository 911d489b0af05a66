#include "config/file/key_files.hpp"

#include <filesystem>
#include <utility>

#include "config/check/findings.hpp"
#include "config/file/key_file.hpp"

namespace spillway::config {

namespace {

// Reads the key files, and sets the keys in the configuration.
class KeyReader {
 public:
  KeyReader(const Config& config, Problems& problems)
      : directory_(config.store.directory), problems_(problems) {}

  template <class Key, class Value>
  void read(KeyFile<Key> (*read_file)(const std::filesystem::path&), const std::string& name,
            const std::string& path, Value& to) {
    KeyFile<Key> file = read_file(directory_ / name);
    if (file.key)
      to = *std::move(file.key);
    else
      problems_.push_back({path, std::move(file.problem)});
  }

 private:
  std::filesystem::path directory_;
  Problems& problems_;
};

}  // namespace

void read_token_keys(Config& config, Problems& problems) {
  KeyReader reader(config, problems);
  const std::string path = "$.trusted_tokens.";
  if (auto& jwt = config.trusted_tokens.jwt) {
    for (std::size_t n = 0; n < jwt->keys.size(); ++n) {
      JwtKey& key = jwt->keys[n];
      const std::string at = element(path + "jwt.keys", n) + ".key_file";
      if (key.algorithm == JwtAlgorithm::hs256)
        reader.read(read_secret_file, key.key_file, at, key.secret);
      else
        reader.read(read_public_key_file, key.key_file, at, key.public_key);
      if (key.public_key && key.public_key->kind != kind_of(key.algorithm))
        problems.push_back({at, key.key_file + " holds a key of another algorithm"});
    }
  }
  if (auto& cookie = config.trusted_tokens.cookie) {
    for (std::size_t n = 0; n < cookie->keys.size(); ++n)
      reader.read(read_key_file, cookie->keys[n].key_file,
                  element(path + "cookie.keys", n) + ".key_file", cookie->keys[n].key);
  }
}

void read_key_files(Config& config, Problems& problems) {
  KeyReader reader(config, problems);
  for (std::size_t n = 0; n < config.routes.size(); ++n) {
    auto& room = config.routes[n].waiting_room;
    if (!room) continue;
    const std::string path = route_path(n, config.routes.size()) + ".waiting_room.";
    if (!room->proof.key_file.empty())
      reader.read(read_key_file, room->proof.key_file, path + "proof_key_file", room->proof.key);
    if (room->webhook)
      reader.read(read_key_file, room->webhook->key_file, path + "webhook.key_file",
                  room->webhook->key);
  }
  read_token_keys(config, problems);
}

}  // namespace spillway::config
