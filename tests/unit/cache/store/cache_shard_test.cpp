#include "cache/store/cache_shard.hpp"

#include <doctest/doctest.h>

#include <string>

#include "cache/store/response_builder.hpp"
#include "unit/cache/rules/asking.hpp"

namespace spillway::cache {
namespace {

constexpr std::size_t kMegabyte = std::size_t{1} << 20;

StoredPtr put(CacheShard& shard, const KeyView& key, const std::string& content,
              TimePoint now = kStart) {
  const http::FieldList fields;
  const Validity validity{.lifetime = seconds(60)};
  const ResponseParts parts{.key = key,
                            .status = 200,
                            .reason_phrase = "OK",
                            .fields = fields,
                            .date = {},
                            .validity = validity,
                            .open = true,
                            .requested_at = now,
                            .arrived_at = now};
  const std::size_t head = ResponseBuilder::head_bytes(parts);
  Block block = shard.take(head + content.size(), now);
  if (block.memory == nullptr) return {};
  StoredResponse& response = ResponseBuilder::build(block.memory, parts);
  content.copy(block.memory + head, content.size());
  ResponseBuilder::set_content(response, content.size());
  StoredPtr held = shard.insert(response, block, now);
  shard.give_back(block);
  return held;
}

std::string found(CacheShard& shard, const KeyView& key) {
  std::string names;
  const StoredPtr response = shard.find(key, names);
  return response ? std::string(response->content()) : "-" + names;
}

}  // namespace

TEST_CASE("keys whose hashes are equal are told apart by their texts") {
  CacheShard shard(kMegabyte);
  const std::uint64_t hash = 0x1234;
  put(shard, {"a", hash, 1}, "of a");
  put(shard, {"b", hash, 1}, "of b");
  CHECK(found(shard, {"a", hash, 1}) == "of a");
  CHECK(found(shard, {"b", hash, 1}) == "of b");
  CHECK(found(shard, {"c", hash, 1}) == "-");
  CHECK(found(shard, {"ab", hash, 1}) == "-");
  CHECK(shard.put_names({"c", hash, 1}, "x,y", kStart));
  CHECK(found(shard, {"c", hash, 1}) == "-x,y");
  CHECK(found(shard, {"a", hash, 1}) == "of a");
  shard.mark_unstorable({"a", hash, 1}, false, kStart);
  CHECK(shard.is_unstorable({"a", hash, 1}, false, kStart));
  CHECK_FALSE(shard.is_unstorable({"b", hash, 1}, false, kStart));
  CHECK_FALSE(shard.is_unstorable({"a", hash, 1}, true, kStart));
  shard.remove({"a", hash, 1}, kNever);
  CHECK(found(shard, {"a", hash, 1}) == "-");
  CHECK(found(shard, {"b", hash, 1}) == "of b");
}

TEST_CASE("many keys in one chain keep their answers") {
  CacheShard shard(kMegabyte);
  for (int i = 0; i < 300; ++i) put(shard, {std::to_string(i), 5, 1}, "of " + std::to_string(i));
  for (int i = 0; i < 300; ++i) {
    CHECK(found(shard, {std::to_string(i), 5, 1}) == "of " + std::to_string(i));
  }
}

TEST_CASE("names are not replaced by an answer that was asked for without them") {
  CacheShard shard(kMegabyte);
  const KeyView key{"a", 1, 1};
  put(shard, key, "x");
  CHECK(shard.put_names(key, "accept", kStart));
  CHECK(found(shard, key) == "-accept");
  CHECK_FALSE(put(shard, key, "y"));
  CHECK(shard.put_names(key, "accept,b", kStart));
  CHECK(found(shard, key) == "-accept,b");
  CHECK(shard.counts().answers == 0);
}

TEST_CASE("a store full of what is being read takes nothing more and holds no more than it may") {
  for (const std::size_t size : {1000, 100000}) {
    CAPTURE(size);
    CacheShard shard(2 * kMegabyte);
    std::vector<StoredPtr> readers;
    std::uint64_t hash = 0;
    for (;; ++hash) {
      StoredPtr held = put(shard, {std::to_string(hash), hash, hash}, std::string(size, 'x'));
      if (!held) break;
      readers.push_back(std::move(held));
      REQUIRE(readers.size() * size < 2 * kMegabyte);
      CHECK(shard.counts().bytes <= 2 * kMegabyte);
    }
    CHECK(readers.size() * size > kMegabyte);
    for (const StoredPtr& reader : readers) CHECK(reader->content() == std::string(size, 'x'));
    CHECK(shard.counts().bytes <= 2 * kMegabyte);
    readers.clear();
    CHECK(put(shard, {"new", 1, 1}, std::string(size, 'x')));
  }
}

TEST_CASE("answers on their way in get no more than half of the memory") {
  CacheShard shard(2 * kMegabyte);
  std::vector<Block> blocks;
  for (;;) {
    const Block block = shard.take(100000, kStart);
    if (block.memory == nullptr) break;
    blocks.push_back(block);
  }
  CHECK(blocks.size() * 100000 > kMegabyte * 8 / 10);
  CHECK(blocks.size() * 100000 <= kMegabyte);
  for (const Block& block : blocks) shard.give_back(block);
  SUBCASE("but one may take more") {
    const Block block = shard.take(3 * kMegabyte / 2, kStart);
    CHECK(block.memory != nullptr);
    shard.give_back(block);
  }
  CHECK(shard.counts().bytes < kMegabyte / 4);
}

TEST_CASE("a small store keeps answers too") {
  CacheShard shard(65536);
  for (std::uint64_t i = 0; i < 1000; ++i) {
    const std::string content(i * 37 % 5000, 'x');
    REQUIRE(put(shard, {std::to_string(i), i, i}, content));
    CHECK(found(shard, {std::to_string(i), i, i}) == content);
    CHECK(shard.counts().bytes <= 65536);
  }
  CHECK(shard.counts().answers > 5);
}

TEST_CASE("an answer that moved on to the main queue is the same and so is its reader's") {
  CacheShard shard(kMegabyte);
  const KeyView key{"a", 1, 1};
  const StoredPtr reader = put(shard, key, "content");
  found(shard, key);
  found(shard, key);
  for (std::uint64_t i = 2; i < 5000; ++i) put(shard, {std::to_string(i), i, i}, "filler");
  CHECK(shard.counts().evictions > 500);
  CHECK(found(shard, key) == "content");
  std::string names;
  const StoredPtr moved = shard.find(key, names);
  REQUIRE(moved);
  CHECK_FALSE(moved == reader);
  CHECK(moved->lines() == reader->lines());
  CHECK(moved->requested_at() == reader->requested_at());
  CHECK(moved->lifetime() == reader->lifetime());
  CHECK(moved->is_open());
  CHECK(reader->content() == "content");
}

}  // namespace spillway::cache
