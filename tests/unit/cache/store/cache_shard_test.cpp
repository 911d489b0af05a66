#include "cache/store/cache_shard.hpp"

#include <doctest/doctest.h>

#include <string>

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
  return shard.store(parts, content, now);
}

void put_names(CacheShard& shard, const KeyView& key, std::string_view names) {
  const http::FieldList fields;
  const ResponseParts note{
      .key = key, .fields = fields, .validity = Validity{}, .requested_at = TimePoint::max()};
  REQUIRE(shard.store(note, names, kStart));
}

std::string found(CacheShard& shard, const KeyView& key) {
  const StoredPtr response = shard.find(key);
  if (!response) return "-";
  return (response->is_vary_note() ? "-" : "") + std::string(response->content());
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
  put_names(shard, {"c", hash, 1}, "x,y");
  CHECK(found(shard, {"c", hash, 1}) == "-x,y");
  CHECK(found(shard, {"a", hash, 1}) == "of a");
  shard.remove({"a", hash, 1}, kNever);
  CHECK(found(shard, {"a", hash, 1}) == "-");
  CHECK(found(shard, {"b", hash, 1}) == "of b");
}

TEST_CASE("many keys with one hash keep their responses") {
  CacheShard shard(kMegabyte);
  for (int i = 0; i < 300; ++i) put(shard, {std::to_string(i), 5, 1}, "of " + std::to_string(i));
  for (int i = 0; i < 300; ++i) {
    CHECK(found(shard, {std::to_string(i), 5, 1}) == "of " + std::to_string(i));
  }
}

TEST_CASE("a vary note is not replaced by a response to its primary key") {
  CacheShard shard(kMegabyte);
  const KeyView key{"a", 1, 1};
  put(shard, key, "x");
  put_names(shard, key, "accept");
  CHECK(found(shard, key) == "-accept");
  CHECK_FALSE(put(shard, key, "y"));
  put_names(shard, key, "accept,b");
  CHECK(found(shard, key) == "-accept,b");
  CHECK(shard.counts().responses == 0);
}

TEST_CASE("a store full of pinned responses stores nothing more and stays within max_bytes") {
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
    // Readers are told, for as long as somebody has just wanted room.
    CHECK(readers.front()->is_wanted_back(kStart));
    CHECK(readers.front()->is_wanted_back(kStart + CacheShard::kFullFor - seconds(1)));
    CHECK_FALSE(readers.front()->is_wanted_back(kStart + CacheShard::kFullFor));
    CHECK_FALSE(shard.is_filling_full(kStart));
    readers.clear();
    CHECK(put(shard, {"new", 1, 1}, std::string(size, 'x')));
  }
}

TEST_CASE("responses that are being filled get no more than half of the memory") {
  CacheShard shard(2 * kMegabyte);
  const http::FieldList fields;
  const ResponseParts parts{.key = {"a", 1, 1}, .fields = fields, .validity = Validity{}};
  std::vector<FillingPtr> fillings;
  while (FillingPtr filling = shard.allocate(parts, 100000, kStart)) {
    fillings.push_back(std::move(filling));
  }
  CHECK(fillings.size() * 100000 > kMegabyte * 8 / 10);
  CHECK(fillings.size() * 100000 <= kMegabyte);
  CHECK(shard.counts().bytes > fillings.size() * 100000);
  CHECK(shard.is_filling_full(kStart));
  CHECK_FALSE(shard.is_pinned_full(kStart));
  fillings.clear();
  SUBCASE("but one may take more") { CHECK(shard.allocate(parts, 3 * kMegabyte / 2, kStart)); }
  CHECK(shard.counts().bytes < kMegabyte / 4);
}

TEST_CASE("a small store keeps responses too") {
  CacheShard shard(65536);
  for (std::uint64_t i = 0; i < 1000; ++i) {
    const std::string content(i * 37 % 5000, 'x');
    REQUIRE(put(shard, {std::to_string(i), i, i}, content));
    CHECK(found(shard, {std::to_string(i), i, i}) == content);
    CHECK(shard.counts().bytes <= 65536);
  }
  CHECK(shard.counts().responses > 5);
}

TEST_CASE("a reader keeps an evicted response, which counts until it lets go") {
  CacheShard shard(kMegabyte);
  const KeyView key{"a", 1, 1};
  const std::string content(200000, 'x');
  StoredPtr reader = put(shard, key, content);
  const std::uint64_t before = shard.counts().bytes;
  SUBCASE("removed") { shard.remove(key, kNever); }
  SUBCASE("purged") { CHECK(shard.purge({}) == 1); }
  SUBCASE("replaced") { put(shard, key, "new", kStart + seconds(1)); }
  SUBCASE("evicted once it is invalid") {
    shard.invalidate(1, kStart);
    for (std::uint64_t i = 2; i < 6000; ++i) put(shard, {std::to_string(i), i, i}, "filler");
    CHECK(shard.counts().evictions > 0);
  }
  CHECK(shard.counts().bytes >= before);
  CHECK(reader->content() == content);
  const std::uint64_t pinned = shard.counts().bytes;
  reader.reset();
  CHECK(pinned - shard.counts().bytes > content.size());
  CHECK(pinned - shard.counts().bytes < content.size() + 1000);
}

TEST_CASE("a mark of a response that could not be stored lasts ten seconds") {
  CacheShard shard(kMegabyte);
  shard.mark_unstorable(0x500, kStart);
  CHECK(shard.is_unstorable(0x500, kStart + milliseconds(9999)));
  CHECK_FALSE(shard.is_unstorable(0x501, kStart));  // the same slot
  CHECK_FALSE(shard.is_unstorable(0x500, kStart + seconds(10)));
}

}  // namespace spillway::cache
