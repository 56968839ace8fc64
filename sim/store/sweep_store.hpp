#pragma once
// The database of one sweep, or of one shard of it: a row per point, and what the sweep was. WAL while it is written,
// so that others may read; a finished one is a single file.
//
// Tables: `points` (inputs first, verdict, metrics with their units in their names, `point` and `key` last), `audit`
// (points that the reference engine ran again), `sweep` (name, value). PRAGMA user_version is the schema's version.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/store/database.hpp"
#include "sim/store/file_lock.hpp"

namespace podsim {

inline constexpr std::int64_t k_sweep_schema = 1;

// What makes two databases parts of one sweep: all of it but the shard must be equal.
struct SweepIdentity {
  std::string input_sha256;         // of base, axes, conditions, sampling and every file named
  std::string tool;                 // version and commit of the program
  std::string definition;           // the sweep as text, for readers
  std::vector<Column> columns;      // of `points`
  std::vector<std::string> inputs;  // names of the leading columns
  std::int64_t points = 0;          // of the whole sweep, those excluded counted
  std::int64_t shard = 1;           // from 1
  std::int64_t shards = 1;
  bool complete = false;  // every point was visited; of no account for what is the same sweep
};

struct PointRow {
  std::int64_t point = 0;   // from 0
  std::vector<Cell> cells;  // as many as there are columns
};

struct AuditRow {
  std::int64_t point = 0;
  std::int64_t native_ps = 0;
  std::int64_t reference_ps = 0;
};

class SweepStore {
 public:
  // Opens the database of this sweep for writing, or makes it. Throws StoreError: a database of another sweep, of
  // another program, of a newer schema, another file, one that another process writes, no permission.
  static SweepStore open(const std::string& path, const SweepIdentity& identity);
  // For reading; the identity is what the file says.
  static SweepStore read(const std::string& path);

  const std::string& path() const { return database_.path(); }
  const SweepIdentity& identity() const { return identity_; }
  Database& database() { return database_; }

  std::vector<std::int64_t> done();  // points that have a row, ascending
  std::int64_t count();
  // Rows on their way into the database, in one transaction, which is undone when the batch is destroyed before it is
  // committed. A point that is there already stays as it is.
  class Batch {
   public:
    explicit Batch(SweepStore& store);  // which outlives it
    void add(const PointRow& row);
    void commit();

   private:
    std::size_t columns_;
    Transaction transaction_;
    Statement insert_;
  };
  void add(const std::vector<PointRow>& rows);        // a batch of its own
  void set_audit(const std::vector<AuditRow>& rows);  // replaces an earlier one
  std::vector<AuditRow> audit();
  // Throws StoreError when this is of another sweep or another program.
  void refuse_other_sweep(const SweepIdentity& wanted) const;
  // Takes the rows of another database of the same sweep that are missing here; gives how many were. Throws StoreError
  // when it is of another sweep or has other values for a point of both.
  std::int64_t merge(const std::string& other);
  void set_complete();
  // Folds the log into the file, so that nothing lies beside it.
  void finish();

 private:
  SweepStore(const std::string& path, Database::Access access);
  void create(const SweepIdentity& identity);
  void read_identity();
  void refuse_other(const SweepIdentity& wanted) const;
  void refuse_other_rows();

  std::optional<FileLock> lock_;
  Database database_;
  SweepIdentity identity_;
};

}  // namespace podsim
