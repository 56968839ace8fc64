#include "sim/store/sweep_store.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "sim/core/check.hpp"

namespace podsim {
namespace {

constexpr std::int64_t k_application = 0x7073696d;  // "psim": PRAGMA application_id

std::string values_of(std::size_t columns) {
  std::string marks = "?";
  for (std::size_t c = 1; c < columns; ++c) marks += ", ?";
  return marks;
}

std::string column_definitions(const std::vector<Column>& columns) {
  std::string text;
  for (const Column& column : columns) {
    if (!text.empty()) text += ", ";
    text += sql_name(column.name);
    if (column.name == "point") text += " INTEGER PRIMARY KEY";
    if (column.name == "fits") text += " BOOLEAN";
  }
  return text;
}

std::string list_of(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += name + "\n";
  return text;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

std::string units_of(const std::vector<Column>& columns) {
  std::vector<std::string> units;
  for (const Column& column : columns) units.push_back(column.unit);
  return list_of(units);
}

}  // namespace

SweepStore::SweepStore(const std::string& path, Database::Access access)
    : lock_(access == Database::Access::write ? std::optional<FileLock>(std::in_place, path) : std::nullopt),
      database_(path, access) {}

SweepStore SweepStore::open(const std::string& path, const SweepIdentity& identity) {
  SweepStore store(path, Database::Access::write);
  const bool empty = store.database_.integer("SELECT count(*) FROM sqlite_master") == 0;
  if (empty) {
    store.create(identity);
    return store;
  }
  store.read_identity();
  store.refuse_other(identity);
  store.database_.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
  return store;
}

SweepStore SweepStore::read(const std::string& path) {
  SweepStore store(path, Database::Access::read);
  store.read_identity();
  return store;
}

void SweepStore::create(const SweepIdentity& identity) {
  database_.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
  Transaction transaction(database_);
  database_.execute(fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}", k_application, k_sweep_schema));
  database_.execute("CREATE TABLE sweep (name TEXT PRIMARY KEY, value) WITHOUT ROWID");
  database_.execute("CREATE TABLE points (" + column_definitions(identity.columns) + ")");
  database_.execute(
      "CREATE TABLE audit (point INTEGER PRIMARY KEY, native_ps INTEGER, reference_ps INTEGER, difference_ps INTEGER)");
  Statement insert = database_.prepare("INSERT INTO sweep VALUES (?, ?)");
  const std::vector<std::pair<std::string, Cell>> facts{{"complete", std::int64_t{0}},
                                                        {"definition", identity.definition},
                                                        {"input_sha256", identity.input_sha256},
                                                        {"inputs", list_of(identity.inputs)},
                                                        {"points", identity.points},
                                                        {"shard", identity.shard},
                                                        {"shards", identity.shards},
                                                        {"tool", identity.tool},
                                                        {"units", units_of(identity.columns)}};
  for (const auto& [name, value] : facts) {
    insert.bind(1, name);
    insert.bind(2, value);
    insert.step();
  }
  transaction.commit();
  identity_ = identity;
  identity_.complete = false;
}

void SweepStore::read_identity() {
  if (database_.integer("PRAGMA application_id") != k_application) {
    throw StoreError(path() + ": is a database of something else; expected one that `podsim sweep run` wrote");
  }
  const std::int64_t schema = database_.integer("PRAGMA user_version");
  if (schema > k_sweep_schema) {
    throw StoreError(fmt::format("{}: has schema {}, written by a newer podsim; expected at most {}", path(), schema,
                                 k_sweep_schema));
  }
  std::map<std::string, Cell> facts;
  Statement select = database_.prepare("SELECT name, value FROM sweep");
  while (select.step()) facts.emplace(select.text(0), select.cell(1));
  const auto text = [&](const char* name) {
    const std::string* value = std::get_if<std::string>(&facts[name]);
    return value != nullptr ? *value : std::string();
  };
  const auto number = [&](const char* name) {
    const std::int64_t* value = std::get_if<std::int64_t>(&facts[name]);
    return value != nullptr ? *value : 0;
  };
  identity_.input_sha256 = text("input_sha256");
  identity_.tool = text("tool");
  identity_.definition = text("definition");
  identity_.inputs = lines_of(text("inputs"));
  identity_.points = number("points");
  identity_.shard = number("shard");
  identity_.shards = number("shards");
  identity_.complete = number("complete") != 0;
  const std::vector<std::string> units = lines_of(text("units"));
  const std::vector<std::string> names = database_.column_names("points");
  for (std::size_t c = 0; c < names.size(); ++c)
    identity_.columns.push_back({names[c], c < units.size() ? units[c] : ""});
}

void SweepStore::refuse_other_sweep(const SweepIdentity& wanted) const {
  if (identity_.tool != wanted.tool) {
    throw StoreError(
        fmt::format("{}: was written by {}, this is {}; rows of two programs are not mixed: name another "
                    "file",
                    path(), identity_.tool, wanted.tool));
  }
  if (identity_.input_sha256 != wanted.input_sha256) {
    throw StoreError(fmt::format("{}: holds another sweep (inputs {:.12}…, not {:.12}…); name another file", path(),
                                 identity_.input_sha256, wanted.input_sha256));
  }
}

void SweepStore::refuse_other(const SweepIdentity& wanted) const {
  refuse_other_sweep(wanted);
  if (identity_.shard != wanted.shard || identity_.shards != wanted.shards) {
    throw StoreError(fmt::format("{}: holds shard {}/{} of this sweep, not {}/{}; name another file", path(),
                                 identity_.shard, identity_.shards, wanted.shard, wanted.shards));
  }
}

std::vector<std::int64_t> SweepStore::done() {
  std::vector<std::int64_t> points;
  Statement select = database_.prepare("SELECT point FROM points ORDER BY point");
  while (select.step()) points.push_back(select.integer(0));
  return points;
}

std::int64_t SweepStore::count() {
  return database_.integer("SELECT count(*) FROM points");
}

SweepStore::Batch::Batch(SweepStore& store)
    : columns_(store.identity_.columns.size()),
      transaction_(store.database_),
      insert_(store.database_.prepare("INSERT OR IGNORE INTO points VALUES (" + values_of(columns_) + ")")) {}

void SweepStore::Batch::add(const PointRow& row) {
  PODSIM_CHECK(row.cells.size() == columns_, "a row with other columns");
  for (std::size_t c = 0; c < row.cells.size(); ++c) insert_.bind(static_cast<int>(c) + 1, row.cells[c]);
  insert_.step();
}

void SweepStore::Batch::commit() {
  transaction_.commit();
}

void SweepStore::add(const std::vector<PointRow>& rows) {
  if (rows.empty()) return;
  Batch batch(*this);
  for (const PointRow& row : rows) batch.add(row);
  batch.commit();
}

void SweepStore::set_audit(const std::vector<AuditRow>& rows) {
  Transaction transaction(database_);
  database_.execute("DELETE FROM audit");
  Statement insert = database_.prepare("INSERT INTO audit VALUES (?, ?, ?, ?)");
  for (const AuditRow& row : rows) {
    insert.bind(1, row.point);
    insert.bind(2, row.native_ps);
    insert.bind(3, row.reference_ps);
    insert.bind(4, row.reference_ps - row.native_ps);
    insert.step();
  }
  transaction.commit();
}

std::vector<AuditRow> SweepStore::audit() {
  std::vector<AuditRow> rows;
  Statement select = database_.prepare("SELECT point, native_ps, reference_ps FROM audit ORDER BY point");
  while (select.step()) rows.push_back({select.integer(0), select.integer(1), select.integer(2)});
  return rows;
}

std::int64_t SweepStore::merge(const std::string& other) {
  const SweepIdentity theirs = SweepStore::read(other).identity();
  if (theirs.input_sha256 != identity_.input_sha256 || theirs.tool != identity_.tool) {
    throw StoreError(fmt::format("{}: belongs to another sweep or program than {}", other, path()));
  }
  Statement attach = database_.prepare("ATTACH DATABASE ? AS other");
  attach.bind(1, other);
  attach.step();
  struct Detach {
    Database& database;
    ~Detach() {
      try {
        database.execute("DETACH DATABASE other");
      } catch (const StoreError&) {
        // It goes with the connection.
      }
    }
  } const detach{database_};
  refuse_other_rows();
  const std::int64_t before = count();
  Transaction transaction(database_);
  database_.execute("INSERT OR IGNORE INTO points SELECT * FROM other.points");
  database_.execute("INSERT OR IGNORE INTO audit SELECT * FROM other.audit");
  transaction.commit();
  return count() - before;
}

void SweepStore::refuse_other_rows() {
  std::string same;
  for (const Column& column : identity_.columns) {
    const std::string name = sql_name(column.name);
    same += (same.empty() ? "" : " AND ") + ("a." + name + " IS b." + name);
  }
  Statement differing = database_.prepare(
      "SELECT a.point FROM points a JOIN other.points b ON a.point = b.point WHERE NOT (" + same + ") LIMIT 1");
  if (!differing.step()) return;
  const std::int64_t point = differing.integer(0);
  while (differing.step()) continue;
  throw StoreError(fmt::format("{}: point {} has other values than in the file to merge", path(), point));
}

void SweepStore::set_complete() {
  if (identity_.complete) return;
  database_.execute("UPDATE sweep SET value = 1 WHERE name = 'complete'");
  identity_.complete = true;
}

void SweepStore::finish() {
  try {
    database_.execute("PRAGMA wal_checkpoint(TRUNCATE)");
    database_.execute("PRAGMA journal_mode = DELETE");
  } catch (const StoreError&) {
    // Somebody reads it: the rows are safe in the log, and the next writer folds it.
  }
}

}  // namespace podsim
