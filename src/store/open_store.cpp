// Opens the store that a URL names.
#include <string_view>
#include <utility>

#include "store/contract/job_store.hpp"
#include "store/memory_store.hpp"
#include "store/postgres/postgres.hpp"
#include "store/sealed_store.hpp"
#include "store/sqlite/sqlite.hpp"

namespace spillway::store {

namespace {

Opened open_plain(const std::string& url, const std::filesystem::path& directory,
                  const KeyMark& mark) {
  if (url == kMemoryUrl) return {open_memory(), {}};
  if (url.empty()) return open_sqlite(directory / kDefaultFile, mark);
  constexpr std::string_view kSqlite = "sqlite:";
  if (url.starts_with(kSqlite) && url.size() > kSqlite.size()) {
    return open_sqlite(directory / url.substr(kSqlite.size()), mark);
  }
  if (url.starts_with("postgresql://") || url.starts_with("postgres://")) {
    return open_postgres(url, mark);
  }
  return {nullptr, {Failure::Kind::unavailable, "no store is known by the url '" + url + "'"}};
}

}  // namespace

Opened open_store(const std::string& url, const std::filesystem::path& directory,
                  const std::optional<Key>& key) {
  // Checked first, since opening a store may write to it.
  if (auto problem = key ? cannot_seal(*key) : std::nullopt)
    return {nullptr, {Failure::Kind::corrupt, std::move(*problem)}};
  Opened opened = open_plain(url, directory, mark_of(key));
  if (opened.store && key) opened.store = sealed_with(*key, std::move(opened.store));
  return opened;
}

}  // namespace spillway::store
