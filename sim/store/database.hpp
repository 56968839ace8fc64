#pragma once
// SQLite as values and exceptions: the only place that knows its interface.

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "sim/observe/table.hpp"

struct sqlite3;
struct sqlite3_stmt;

namespace podsim {

// A file that cannot be read or written, or holds something else; the text begins with its path.
class StoreError : public std::runtime_error {
 public:
  enum class Kind { other, full, busy };
  StoreError(const std::string& text, Kind kind = Kind::other) : std::runtime_error(text), kind_(kind) {}
  Kind kind() const { return kind_; }

 private:
  Kind kind_;
};

class Database;

// A prepared statement; it must not outlive its database.
class Statement {
 public:
  // Parameters count from 1.
  void bind(int parameter, const Cell& cell);
  // Moves to the next row; false when there is none (then the statement may be bound and run again).
  bool step();
  int columns() const;
  // Of the current row, from 0. A column declared BOOLEAN gives a truth value.
  Cell cell(int column) const;
  std::int64_t integer(int column) const;
  std::string text(int column) const;

 private:
  friend class Database;
  Statement(Database& database, std::string_view sql);
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  Database* database_;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

class Database {
 public:
  enum class Access { read, write };  // write makes the file when it is absent

  // Waits up to 10 s for other processes at every access. Throws StoreError.
  Database(const std::string& path, Access access);
  const std::string& path() const { return path_; }

  void execute(const std::string& sql);  // without results
  Statement prepare(std::string_view sql) { return {*this, sql}; }
  std::int64_t integer(const std::string& sql);  // the first column of the first row; 0 without a row
  std::vector<std::string> column_names(const std::string& table);  // in order; empty: no such table

 private:
  friend class Statement;
  [[noreturn]] void fail(const std::string& doing) const;
  struct Close {
    void operator()(sqlite3* handle) const;
  };
  std::string path_;
  std::unique_ptr<sqlite3, Close> handle_;
};

// Commits at `commit`, rolls back when it is destroyed before.
class Transaction {
 public:
  explicit Transaction(Database& database);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  void commit();

 private:
  Database& database_;
  bool open_ = true;
};

// A name as SQL writes it, whatever characters it has.
std::string sql_name(std::string_view name);

}  // namespace podsim
