#include <doctest/doctest.h>

#include <unistd.h>

#include <filesystem>
#include <string>

#include "sim/store/sweep_store.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace podsim;
using podsim::test::TemporaryFolder;

namespace {

SweepIdentity identity(const std::string& sha = "abc", std::int64_t shard = 1, std::int64_t shards = 1) {
  SweepIdentity result;
  result.input_sha256 = sha;
  result.tool = "podsim 1";
  result.definition = "a = 1 2";
  result.columns = {{"a.b", ""}, {"fits", ""}, {"time_s", "s"}, {"point", ""}};
  result.inputs = {"a.b"};
  result.points = 4;
  result.shard = shard;
  result.shards = shards;
  return result;
}

PointRow row(std::int64_t point, double time = 0.5) {
  return {point, {std::string("x"), true, time, point}};
}

std::string told(const std::string& path, const SweepIdentity& wanted) {
  try {
    SweepStore::open(path, wanted);
  } catch (const StoreError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("sweep store: rows come back as they were, with units and kinds of values") {
  const TemporaryFolder folder;
  const std::string path = folder.path("s.sqlite");
  {
    SweepStore store = SweepStore::open(path, identity());
    store.add({row(2), row(0, 0.25)});
    store.add({row(2, 9)});  // there already
    CHECK(store.done() == std::vector<std::int64_t>{0, 2});
    store.set_complete();
    store.finish();
  }
  SweepStore store = SweepStore::read(path);
  CHECK(store.count() == 2);
  CHECK(store.identity().complete);
  CHECK(store.identity().points == 4);
  CHECK(store.identity().inputs == std::vector<std::string>{"a.b"});
  CHECK(store.identity().columns[2].name == "time_s");
  CHECK(store.identity().columns[2].unit == "s");
  Statement select = store.database().prepare("SELECT * FROM points ORDER BY point");
  REQUIRE(select.step());
  CHECK(select.cell(0) == Cell(std::string("x")));
  CHECK(select.cell(1) == Cell(true));
  CHECK(select.cell(2) == Cell(0.25));
  REQUIRE(select.step());
  CHECK(select.cell(2) == Cell(0.5));
  CHECK_FALSE(select.step());
}

TEST_CASE("sweep store: a number that no evaluation gives is told") {
  const TemporaryFolder folder;
  const std::string path = folder.path("s.sqlite");
  SweepStore store = SweepStore::open(path, identity());
  store.add({row(1)});
  store.database().execute("UPDATE points SET time_s = 9e999");
  Statement select = store.database().prepare("SELECT time_s FROM points");
  REQUIRE(select.step());
  CHECK_THROWS_WITH_AS(select.cell(0), (path + ": a \"time_s\" is not finite, which podsim never writes").c_str(),
                       StoreError);
}

TEST_CASE("sweep store: a finished database is one file") {
  const TemporaryFolder folder;
  const std::string path = folder.path("s.sqlite");
  {
    SweepStore store = SweepStore::open(path, identity());
    store.add({row(1)});
    store.finish();
  }
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) files += entry.exists() ? 1 : 0;
  CHECK(files == 1);
}

TEST_CASE("sweep store: another sweep, program, shard or schema is refused") {
  const TemporaryFolder folder;
  const std::string path = folder.path("s.sqlite");
  SweepStore::open(path, identity("0123456789abcdef")).add({row(1)});
  CHECK(told(path, identity("0123456789abcdef")).empty());
  CHECK(told(path, identity("fedcba9876543210")) ==
        path + ": holds another sweep (inputs 0123456789ab…, not fedcba987654…); name another file");
  CHECK(told(path, identity("0123456789abcdef", 2, 4)) ==
        path + ": holds shard 1/1 of this sweep, not 2/4; name another file");
  SweepIdentity other = identity("0123456789abcdef");
  other.tool = "podsim 2";
  CHECK(told(path, other) == path +
                                 ": was written by podsim 1, this is podsim 2; rows of two programs are not mixed: "
                                 "name another file");
  Database(path, Database::Access::write).execute("PRAGMA user_version = 2");
  CHECK(told(path, identity("0123456789abcdef")) ==
        path + ": has schema 2, written by a newer podsim; expected at most 1");
}

TEST_CASE("sweep store: a file of something else is refused and left alone") {
  const TemporaryFolder folder;
  const std::string text = folder.write("text.sqlite", "not a database, but long enough to be looked at as one\n");
  CHECK(told(text, identity()) == text + ": cannot be read: file is not a database");
  const std::string foreign = folder.path("foreign.sqlite");
  Database(foreign, Database::Access::write).execute("CREATE TABLE t (a)");
  CHECK(told(foreign, identity()) ==
        foreign + ": is a database of something else; expected one that `podsim sweep run` wrote");
  CHECK(told(folder.path("no/such/folder.sqlite"), identity()) ==
        folder.path("no/such/folder.sqlite") + ": cannot be written: No such file or directory");
}

TEST_CASE("sweep store: a second writer is refused while the first one lives") {
  const TemporaryFolder folder;
  const std::string path = folder.path("s.sqlite");
  {
    const SweepStore first = SweepStore::open(path, identity());
    const std::string refusal = told(path, identity());
    CHECK(refusal.starts_with(path + ": is written by process " + std::to_string(::getpid()) + " on "));
    CHECK(refusal.ends_with("; wait for it, or name another file"));
    CHECK(SweepStore::read(path).count() == 0);
  }
  CHECK(told(path, identity()).empty());
}

TEST_CASE("sweep store: merging takes what is missing, once") {
  const TemporaryFolder folder;
  SweepStore::open(folder.path("a.sqlite"), identity("abc", 1, 2)).add({row(0), row(2)});
  {
    SweepStore second = SweepStore::open(folder.path("b.sqlite"), identity("abc", 2, 2));
    second.add({row(1), row(3)});
    second.set_audit({{1, 100, 101}});
  }
  SweepStore target = SweepStore::open(folder.path("all.sqlite"), identity());
  CHECK(target.merge(folder.path("a.sqlite")) == 2);
  CHECK(target.merge(folder.path("b.sqlite")) == 2);
  CHECK(target.merge(folder.path("b.sqlite")) == 0);
  CHECK(target.done() == std::vector<std::int64_t>{0, 1, 2, 3});
  REQUIRE(target.audit().size() == 1);
  CHECK(target.audit()[0].reference_ps == 101);
}

TEST_CASE("sweep store: what belongs to another sweep or contradicts is not merged") {
  const TemporaryFolder folder;
  SweepStore::open(folder.path("other.sqlite"), identity("xyz")).add({row(0)});
  SweepStore::open(folder.path("wrong.sqlite"), identity("abc", 1, 2)).add({row(0, 3.5)});
  SweepStore target = SweepStore::open(folder.path("all.sqlite"), identity());
  target.add({row(0)});
  CHECK_THROWS_WITH_AS(
      target.merge(folder.path("other.sqlite")),
      (folder.path("other.sqlite") + ": belongs to another sweep or program than " + folder.path("all.sqlite")).c_str(),
      StoreError);
  CHECK_THROWS_WITH_AS(target.merge(folder.path("wrong.sqlite")),
                       (folder.path("all.sqlite") + ": point 0 has other values than in the file to merge").c_str(),
                       StoreError);
  CHECK(target.count() == 1);
}
