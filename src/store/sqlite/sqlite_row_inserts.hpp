// Statements that insert several rows at once: a statement for each row would open the table and
// all its indices each time.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>

#include "store/sqlite/sqlite_database.hpp"

namespace spillway::store {

class RowInserts {
 public:
  // `INSERT INTO ... VALUES `, the parameters of one row, and the text after the rows.
  RowInserts(Database& database, const char* begin, const char* row, const char* end)
      : of_count_{Statement(database, text(begin, row, kAtOnce[0], end)),
                  Statement(database, text(begin, row, kAtOnce[1], end)),
                  Statement(database, text(begin, row, kAtOnce[2], end))} {}

  // Calls `visit` with parts of the sizes for which there are statements, in order.
  template <class Item, class Visit>
  static void divide(std::span<const Item> all, Visit visit) {
    for (const std::size_t count : kAtOnce)
      for (; all.size() >= count; all = all.subspan(count)) visit(all.first(count));
  }
  // Inserts such a part: `bind` adds the parameters of an item's row.
  template <class Item, class Bind>
  void insert(std::span<const Item> part, Bind bind) {
    std::size_t at = 0;
    while (at + 1 < kAtOnce.size() && kAtOnce[at] > part.size()) ++at;
    Rows rows = of_count_[at].with();
    for (const Item& item : part) bind(rows, item);
    rows.finish();
  }

 private:
  static constexpr std::array<std::size_t, 3> kAtOnce{16, 4, 1};

  static std::string text(const char* begin, const char* row, std::size_t count, const char* end) {
    std::string sql = begin;
    for (std::size_t n = 0; n < count; ++n) sql.append(n == 0 ? "" : ", ").append(row);
    return sql + end;
  }

  std::array<Statement, kAtOnce.size()> of_count_;
};

}  // namespace spillway::store
