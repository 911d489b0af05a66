#include "store/postgres/postgres_wire.hpp"

#include <algorithm>

namespace spillway::store {
namespace {

// Dimensions, whether there are nulls, element type, number of elements, first index.
constexpr std::size_t kArrayHeader = 20;
constexpr int kBinary = 1;

std::string_view as_bytes(const PostgresUuid& value) {
  return {reinterpret_cast<const char*>(value.data()), value.size()};
}

}  // namespace

PostgresColumn::PostgresColumn(PostgresType type) {
  put_network_order(bytes_, std::int32_t{1});
  put_network_order(bytes_, std::int32_t{0});
  put_network_order(bytes_, static_cast<std::uint32_t>(type));
  put_network_order(bytes_, std::int32_t{0});
  put_network_order(bytes_, std::int32_t{1});
}

void PostgresColumn::add(bool value) {
  const char byte = value ? 1 : 0;
  add(std::string_view(&byte, 1));
}

void PostgresColumn::add(std::string_view bytes) {
  put_network_order(bytes_, static_cast<std::int32_t>(bytes.size()));
  bytes_ += bytes;
  ++count_;
}

void PostgresColumn::add(const PostgresUuid& value) { add(as_bytes(value)); }

void PostgresColumn::add(const std::optional<PostgresUuid>& value) {
  if (value) {
    add(*value);
  } else {
    add_null();
  }
}

void PostgresColumn::add_null() {
  put_network_order(bytes_, std::int32_t{-1});
  has_null_ = true;
  ++count_;
}

std::string PostgresColumn::take() {
  std::string header;
  header.reserve(kArrayHeader);
  put_network_order(header, std::int32_t{1});
  put_network_order(header, std::int32_t{has_null_ ? 1 : 0});
  header += bytes_.substr(8, 4);
  put_network_order(header, count_);
  put_network_order(header, std::int32_t{1});
  std::copy(header.begin(), header.end(), bytes_.begin());
  return std::move(bytes_);
}

PostgresParameters& PostgresParameters::add(std::string_view bytes) {
  values_.emplace_back(std::string(bytes));
  return *this;
}

PostgresParameters& PostgresParameters::add(const PostgresUuid& value) {
  return add(as_bytes(value));
}

PostgresParameters& PostgresParameters::add(PostgresColumn&& column) {
  values_.emplace_back(column.take());
  return *this;
}

PostgresParameters& PostgresParameters::add_null() {
  values_.emplace_back();
  return *this;
}

PostgresParameters::View PostgresParameters::view() const {
  View view;
  for (const auto& value : values_) {
    view.values.push_back(value ? value->data() : nullptr);
    view.lengths.push_back(value ? static_cast<int>(value->size()) : 0);
    view.formats.push_back(kBinary);
  }
  return view;
}

PostgresUuid PostgresRows::uuid(int row, int column) const {
  PostgresUuid value{};
  const std::string_view from = bytes(row, column);
  if (from.size() == value.size()) std::copy(from.begin(), from.end(), value.begin());
  return value;
}

}  // namespace spillway::store
