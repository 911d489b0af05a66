#include "cache/store/record.hpp"

#include <cstring>
#include <new>

#include "cache/store/record_log.hpp"
#include "cache/store/stored_response.hpp"

namespace spillway::cache {

Record::Record(RecordKind its_kind, const KeyView& key, std::size_t bytes)
    : kind(its_kind),
      key_size_(static_cast<std::uint32_t>(key.text.size())),
      bytes_(bytes),
      hash_(key.hash),
      uri_hash_(key.uri_hash) {}

Record::Record(const Record& other)
    : kind(other.kind),
      frequency(other.frequency),
      shard(other.shard),
      useless_after(other.useless_after),
      key_size_(other.key_size_),
      bytes_(other.bytes_),
      hash_(other.hash_),
      uri_hash_(other.uri_hash_),
      requested_at_(other.requested_at_) {}

const char* Record::text() const {
  return reinterpret_cast<const char*>(this) +
         (kind == RecordKind::answer ? sizeof(StoredResponse) : sizeof(Record));
}

Record* Record::build_note(char* block, RecordKind kind, const KeyView& key,
                           std::string_view body) {
  auto* const record = new (block) Record(kind, key, note_bytes(key, body));
  char* const at = block + sizeof(Record);
  key.text.copy(at, key.text.size());
  body.copy(at + key.text.size(), body.size());
  return record;
}

Record* Record::copy_to(char* block) const {
  const auto at = static_cast<std::size_t>(text() - reinterpret_cast<const char*>(this));
  std::memcpy(block + at, text(), bytes_ - at);
  if (kind != RecordKind::answer) return new (block) Record(*this);
  return new (block) StoredResponse(static_cast<const StoredResponse&>(*this));
}

void Record::let_go(FreedRuns& freed) const {
  if (references_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  if (kind == RecordKind::answer) {
    const StoredResponse* const source = static_cast<const StoredResponse&>(*this).source();
    if (source != nullptr) source->let_go(freed);
  }
  if (has_run) {
    freed.add(reinterpret_cast<char*>(const_cast<Record*>(this)), bytes_);
  } else {
    slot->segment->let_go(freed);
  }
}

std::size_t Record::outside_bytes() const {
  if (has_run) return bytes_;
  if (kind != RecordKind::answer) return 0;
  const StoredResponse* const source = static_cast<const StoredResponse&>(*this).source();
  return source == nullptr ? 0 : source->bytes();
}

bool Record::is_outside_read() const {
  if (has_run) return is_read();
  if (kind != RecordKind::answer) return false;
  const StoredResponse* const source = static_cast<const StoredResponse&>(*this).source();
  return source != nullptr && (is_read() || source->is_read());
}

}  // namespace spillway::cache
