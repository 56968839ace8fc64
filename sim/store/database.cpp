#include "sim/store/database.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include <cerrno>
#include <cmath>
#include <type_traits>

#include "sim/core/check.hpp"

namespace podsim {
namespace {

constexpr int k_patience_ms = 10'000;

}  // namespace

Statement::Statement(Database& database, std::string_view sql) : database_(&database) {
  sqlite3_stmt* statement = nullptr;
  const int code =
      sqlite3_prepare_v2(database.handle_.get(), sql.data(), static_cast<int>(sql.size()), &statement, nullptr);
  statement_.reset(statement);
  if (code != SQLITE_OK) database.fail("cannot be read");
}

void Statement::Finalize::operator()(sqlite3_stmt* statement) const {
  sqlite3_finalize(statement);
}

void Statement::bind(int parameter, const Cell& cell) {
  sqlite3_stmt* to = statement_.get();
  const int code = std::visit(
      [&](const auto& content) {
        using Type = std::decay_t<decltype(content)>;
        if constexpr (std::is_same_v<Type, std::monostate>) {
          return sqlite3_bind_null(to, parameter);
        } else if constexpr (std::is_same_v<Type, double>) {
          return sqlite3_bind_double(to, parameter, content);
        } else if constexpr (std::is_same_v<Type, std::string>) {
          return sqlite3_bind_text(to, parameter, content.data(), static_cast<int>(content.size()), SQLITE_TRANSIENT);
        } else {
          return sqlite3_bind_int64(to, parameter, content);
        }
      },
      cell);
  PODSIM_CHECK(code == SQLITE_OK, "a parameter that the statement does not have");
}

bool Statement::step() {
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  const bool done = code == SQLITE_DONE;
  if (!done) database_->fail("cannot be used");
  sqlite3_reset(statement_.get());
  return false;
}

int Statement::columns() const {
  return sqlite3_column_count(statement_.get());
}

Cell Statement::cell(int column) const {
  sqlite3_stmt* from = statement_.get();
  switch (sqlite3_column_type(from, column)) {
    case SQLITE_INTEGER: {
      const char* declared = sqlite3_column_decltype(from, column);
      const std::int64_t value = sqlite3_column_int64(from, column);
      if (declared != nullptr && std::string_view(declared) == "BOOLEAN") return value != 0;
      return value;
    }
    case SQLITE_FLOAT: {
      const double value = sqlite3_column_double(from, column);
      if (std::isfinite(value)) return value;
      throw StoreError(database_->path() + ": a \"" + sqlite3_column_name(from, column) +
                       "\" is not finite, which podsim never writes");
    }
    case SQLITE_NULL:
      return std::monostate{};
    default:
      return text(column);
  }
}

std::int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}

std::string Statement::text(int column) const {
  const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), column));
  if (bytes == nullptr) return {};
  return {bytes, static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column))};
}

Database::Database(const std::string& path, Access access) : path_(path) {
  const int flags = access == Access::read ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  sqlite3* handle = nullptr;
  const int code = sqlite3_open_v2(path.c_str(), &handle, flags | SQLITE_OPEN_NOMUTEX, nullptr);
  handle_.reset(handle);
  if (code != SQLITE_OK) fail("cannot be opened");
  sqlite3_busy_timeout(handle, k_patience_ms);
}

void Database::Close::operator()(sqlite3* handle) const {
  sqlite3_close_v2(handle);
}

void Database::fail(const std::string& doing) const {
  const int code = handle_ == nullptr ? SQLITE_NOMEM : sqlite3_errcode(handle_.get());
  const std::string reason = handle_ == nullptr ? "out of memory" : sqlite3_errmsg(handle_.get());
  const bool io = code == SQLITE_IOERR || code == SQLITE_CANTOPEN;
  const bool full = code == SQLITE_FULL || (io && sqlite3_system_errno(handle_.get()) == ENOSPC);
  const StoreError::Kind kind = full                  ? StoreError::Kind::full
                                : code == SQLITE_BUSY ? StoreError::Kind::busy
                                                      : StoreError::Kind::other;
  throw StoreError(fmt::format("{}: {}: {}", path_, doing, full ? "no space left on the disk" : reason), kind);
}

void Database::execute(const std::string& sql) {
  if (sqlite3_exec(handle_.get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) fail("cannot be written");
}

std::int64_t Database::integer(const std::string& sql) {
  Statement statement = prepare(sql);
  return statement.step() ? statement.integer(0) : 0;
}

std::vector<std::string> Database::column_names(const std::string& table) {
  Statement statement = prepare("PRAGMA table_info(" + sql_name(table) + ")");
  std::vector<std::string> names;
  while (statement.step()) names.push_back(statement.text(1));
  return names;
}

Transaction::Transaction(Database& database) : database_(database) {
  database_.execute("BEGIN IMMEDIATE");
}

Transaction::~Transaction() {
  if (!open_) return;
  try {
    database_.execute("ROLLBACK");
  } catch (const StoreError&) {
    // After some failures SQLite has rolled back already.
  }
}

void Transaction::commit() {
  database_.execute("COMMIT");
  open_ = false;
}

std::string sql_name(std::string_view name) {
  std::string quoted = "\"";
  for (const char c : name) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

}  // namespace podsim
