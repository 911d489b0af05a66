// Parameters and results in PostgreSQL's binary format (its manual, "Message Data Types" and the
// send and recv functions of each type): integers in network byte order, uuid as 16 bytes, text and
// bytea unchanged, arrays with a header.
//
// Times are bigint milliseconds since 1970, digests and job ids are uuid.
#pragma once

#include <libpq-fe.h>

#include <array>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "jobs/job.hpp"

namespace spillway::store {

// The type numbers in pg_type, which never change.
enum class PostgresType : std::uint32_t {
  boolean = 16,
  bytea = 17,
  int8 = 20,
  int2 = 21,
  int4 = 23,
  text = 25,
  uuid = 2950,
};

using PostgresUuid = std::array<std::uint8_t, 16>;

template <std::integral T>
void put_network_order(std::string& out, T value) {
  auto bits = static_cast<std::make_unsigned_t<T>>(value);
  for (std::size_t i = sizeof(T); i-- > 0;) out += static_cast<char>(bits >> (8 * i));
}

inline std::int64_t to_milliseconds(jobs::WallTime time) { return time.time_since_epoch().count(); }
inline jobs::WallTime to_wall_time(std::int64_t milliseconds) {
  return jobs::WallTime{std::chrono::milliseconds{milliseconds}};
}

// An array parameter: one column of a batch.
class PostgresColumn {
 public:
  explicit PostgresColumn(PostgresType type);

  void add(std::int16_t value) { add_number(value); }
  void add(std::int32_t value) { add_number(value); }
  void add(std::int64_t value) { add_number(value); }
  void add(jobs::WallTime value) { add_number(to_milliseconds(value)); }
  void add(bool value);
  void add(std::string_view bytes);
  void add(const PostgresUuid& value);
  void add(const std::optional<PostgresUuid>& value);
  void add_null();

  // Returns the array with its header, as it is sent.
  std::string take();

 private:
  template <class T>
  void add_number(T value) {
    put_network_order(bytes_, static_cast<std::int32_t>(sizeof(T)));
    put_network_order(bytes_, value);
    ++count_;
  }

  std::string bytes_;
  std::int32_t count_ = 0;
  bool has_null_ = false;
};

// The parameters of one execution, in the order of $1, $2, ...
class PostgresParameters {
 public:
  template <std::integral T>
  PostgresParameters& add(T value) {
    std::string bytes;
    if constexpr (std::same_as<T, bool>) {
      bytes += static_cast<char>(value ? 1 : 0);
    } else {
      put_network_order(bytes, value);
    }
    values_.emplace_back(std::move(bytes));
    return *this;
  }
  PostgresParameters& add(jobs::WallTime value) { return add(to_milliseconds(value)); }
  PostgresParameters& add(std::string_view bytes);
  PostgresParameters& add(const PostgresUuid& value);
  PostgresParameters& add(PostgresColumn&& column);
  template <class T>
  PostgresParameters& add(const std::optional<T>& value) {
    return value ? add(*value) : add_null();
  }
  PostgresParameters& add_null();

  // In the form of PQsendQueryPrepared's arguments; valid until this object changes.
  struct View {
    std::vector<const char*> values;
    std::vector<int> lengths;
    std::vector<int> formats;
  };
  View view() const;

 private:
  std::vector<std::optional<std::string>> values_;
};

// The rows of a result, which it does not own. A column whose width differs from the type asked for
// reads as zero: the tests keep statements and readers consistent.
class PostgresRows {
 public:
  explicit PostgresRows(const PGresult* result) : result_(result) {}

  int size() const { return PQntuples(result_); }
  bool is_null(int row, int column) const { return PQgetisnull(result_, row, column) != 0; }

  template <std::integral T>
  T number(int row, int column) const {
    const std::string_view from = bytes(row, column);
    if (from.size() != sizeof(T)) return T{};
    std::make_unsigned_t<T> bits = 0;
    for (const char byte : from) {
      bits = static_cast<std::make_unsigned_t<T>>((static_cast<std::uint64_t>(bits) << 8) |
                                                  static_cast<std::uint8_t>(byte));
    }
    return static_cast<T>(bits);
  }
  jobs::WallTime time(int row, int column) const {
    return to_wall_time(number<std::int64_t>(row, column));
  }
  bool flag(int row, int column) const {
    const std::string_view from = bytes(row, column);
    return !from.empty() && from[0] != 0;
  }
  std::string_view bytes(int row, int column) const {
    return {PQgetvalue(result_, row, column),
            static_cast<std::size_t>(PQgetlength(result_, row, column))};
  }
  std::string text(int row, int column) const { return std::string(bytes(row, column)); }
  PostgresUuid uuid(int row, int column) const;
  jobs::JobId id(int row, int column) const { return {uuid(row, column)}; }
  jobs::JobState state(int row, int column) const {
    return static_cast<jobs::JobState>(number<std::int16_t>(row, column));
  }
  jobs::Cause cause(int row, int column) const {
    return static_cast<jobs::Cause>(number<std::int16_t>(row, column));
  }

 private:
  const PGresult* result_;
};

}  // namespace spillway::store
