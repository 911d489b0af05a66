#include "http/field/field_list.hpp"

#include "http/field/ascii.hpp"

namespace spillway::http {

// The alphabetically last field in Beast.
static_assert(static_cast<std::size_t>(FieldId::xref) < 512);

const Field* FieldList::find(std::string_view name) const {
  for (const Field& field : *this) {
    if (iequals(field.name, name)) return &field;
  }
  return nullptr;
}

std::size_t FieldList::count(FieldId id) const {
  if (!contains(id)) return 0;
  std::size_t n = 0;
  for (const Field& field : *this) n += field.id == id;
  return n;
}

}  // namespace spillway::http
