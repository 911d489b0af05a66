#include "degrade/cache_shard.hpp"

#include <cstdlib>
#include <cstring>
#include <new>

namespace spillway::degrade {
namespace {

bool is_answer_or_names(Record::Kind kind) {
  return kind == Record::Kind::answer || kind == Record::Kind::names;
}

}  // namespace

void Record::let_go() const {
  if (references_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  shard_->give_back(const_cast<char*>(reinterpret_cast<const char*>(this)), bytes_);
}

CacheShard::~CacheShard() {
  for (const auto& [hash, record] : index_) record->let_go();
}

char* CacheShard::take(std::size_t bytes) {
  if (bytes_.fetch_add(bytes) + bytes > max_bytes_) {
    bytes_ -= bytes;
    return nullptr;
  }
  return static_cast<char*>(std::malloc(bytes));
}

void CacheShard::give_back(char* block, std::size_t bytes) {
  std::free(block);
  bytes_ -= bytes;
}

StoredPtr CacheShard::find(const KeyView& key, std::string& names, TimePoint) {
  const std::lock_guard lock(mutex_);
  names.clear();
  const auto [first, last] = index_.equal_range(key.hash);
  for (auto at = first; at != last; ++at) {
    const Record& record = *at->second;
    const char* text = reinterpret_cast<const char*>(&record);
    if (record.kind() == Record::Kind::answer) {
      const auto& response = static_cast<const StoredResponse&>(record);
      text += sizeof(StoredResponse);
      if (std::string_view(text, record.key_size()) != key.text) continue;
      const auto stamp = stamps_.find(key.uri_hash);
      if (stamp != stamps_.end() && record.requested_at() <= stamp->second) return {};
      record.hold();
      return StoredPtr(&response);
    }
    if (record.kind() != Record::Kind::names) continue;
    text += sizeof(Record);
    if (std::string_view(text, record.key_size()) != key.text) continue;
    names.assign(text + record.key_size(), record.bytes_ - sizeof(Record) - record.key_size());
    return {};
  }
  return {};
}

bool CacheShard::has_note(const KeyView& key, Record::Kind kind, TimePoint now) {
  const std::lock_guard lock(mutex_);
  const auto [first, last] = index_.equal_range(key.hash);
  for (auto at = first; at != last; ++at) {
    const Record& record = *at->second;
    const char* text = reinterpret_cast<const char*>(&record) + sizeof(Record);
    if (record.kind() == kind && std::string_view(text, record.key_size()) == key.text &&
        now < record.requested_at()) {
      return true;
    }
  }
  return false;
}

bool CacheShard::put_note(const KeyView& key, Record::Kind kind, std::string_view body,
                          TimePoint until) {
  const std::size_t bytes = sizeof(Record) + key.text.size() + body.size();
  char* const block = take(bytes);
  if (block == nullptr) return false;
  auto* const record = new (block) Record;
  record->kind_ = kind;
  record->shard_ = this;
  record->bytes_ = bytes;
  record->hash_ = key.hash;
  record->uri_hash_ = key.uri_hash;
  record->key_size_ = static_cast<std::uint32_t>(key.text.size());
  record->requested_at_ = until;
  std::memcpy(block + sizeof(Record), key.text.data(), key.text.size());
  if (!body.empty())
    std::memcpy(block + sizeof(Record) + key.text.size(), body.data(), body.size());
  const std::lock_guard lock(mutex_);
  if (kind == Record::Kind::names) {
    const auto at = look(key, is_answer_or_names);
    if (at != index_.end()) unlink(at);
  }
  index_.emplace(key.hash, record);
  return true;
}

CacheShard::Index::iterator CacheShard::look(const KeyView& key, bool (*wanted)(Record::Kind)) {
  const auto [first, last] = index_.equal_range(key.hash);
  for (auto at = first; at != last; ++at) {
    const Record& record = *at->second;
    if (!wanted(record.kind())) continue;
    const char* text =
        reinterpret_cast<const char*>(&record) +
        (record.kind() == Record::Kind::answer ? sizeof(StoredResponse) : sizeof(Record));
    if (std::string_view(text, record.key_size()) == key.text) return at;
  }
  return index_.end();
}

void CacheShard::unlink(Index::iterator at) {
  const Record* const record = at->second;
  entries -= record->kind() == Record::Kind::answer;
  index_.erase(at);
  record->let_go();
}

StoredPtr CacheShard::insert(StoredResponse* response, TimePoint) {
  const char* const text = reinterpret_cast<const char*>(response) + sizeof(StoredResponse);
  const KeyView key{{text, response->key_size()}, response->hash_, response->uri_hash_};
  StoredPtr mine(response);
  const std::lock_guard lock(mutex_);
  const auto stamp = stamps_.find(key.uri_hash);
  if ((stamp != stamps_.end() && response->requested_at() <= stamp->second) ||
      response->requested_at() <= purged_at_) {
    return {};
  }
  const auto at = look(key, is_answer_or_names);
  if (at != index_.end()) unlink(at);
  response->hold();
  index_.emplace(key.hash, response);
  ++entries;
  ++stores;
  return mine;
}

void CacheShard::remove(const KeyView& key) {
  const std::lock_guard lock(mutex_);
  const auto at = look(key, [](Record::Kind kind) { return kind == Record::Kind::answer; });
  if (at != index_.end()) unlink(at);
}

void CacheShard::invalidate(std::uint64_t uri, TimePoint now) {
  const std::lock_guard lock(mutex_);
  stamps_[uri] = now;
  ++invalidations;
}

void CacheShard::begin_purge(TimePoint now) {
  const std::lock_guard lock(mutex_);
  purged_at_ = now;
}

std::size_t CacheShard::purge(const Purge&) {
  const std::lock_guard lock(mutex_);
  const std::size_t gone = entries;
  while (!index_.empty()) unlink(index_.begin());
  return gone;
}

}  // namespace spillway::degrade
