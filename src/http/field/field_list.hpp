// The header fields of a message, in order, with duplicates, in a fixed block of memory.
#pragma once

#include <bitset>
#include <boost/beast/http/field.hpp>
#include <cstddef>
#include <memory>
#include <string_view>

namespace spillway::http {

using FieldId = boost::beast::http::field;

struct Field {
  std::string_view name;   // as sent
  std::string_view value;  // as sent, without surrounding white space
  FieldId id;              // FieldId::unknown for names that Beast does not know
};

class FieldList {
 public:
  static constexpr std::size_t kCapacity = 128;

  // The block is left uninitialised: a list costs nothing until fields are pushed.
  FieldList() {}

  // False if the list is full; the field is then left out.
  bool push(const Field& field) {
    if (size_ == kCapacity) return false;
    std::construct_at(fields_ + size_++, field);
    present_.set(position(field.id));
    return true;
  }
  void clear() {
    size_ = 0;
    present_.reset();
  }

  const Field* begin() const { return fields_; }
  const Field* end() const { return fields_ + size_; }
  std::size_t size() const { return size_; }
  const Field& operator[](std::size_t i) const { return fields_[i]; }

  // Cheap: one bit.
  bool contains(FieldId id) const { return present_.test(position(id)); }
  // The first field with that id, or null.
  const Field* find(FieldId id) const {
    if (!contains(id)) return nullptr;
    for (const Field& field : *this) {
      if (field.id == id) return &field;
    }
    return nullptr;
  }
  // The first field with that name in any case, or null: for names that have no id.
  const Field* find(std::string_view name) const;
  std::size_t count(FieldId id) const;

 private:
  static constexpr std::size_t kIds = 512;  // more than Beast's fields (static_assert in the .cpp)
  static std::size_t position(FieldId id) { return static_cast<std::size_t>(id); }

  union {
    Field fields_[kCapacity];
  };
  std::size_t size_ = 0;
  std::bitset<kIds> present_;
};

}  // namespace spillway::http
