#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>

#include "models/catalog.hpp"
#include "sim/report/result_columns.hpp"
#include "sim/study/sweep.hpp"
#include "sim/study/sweep_tables.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace podsim;

namespace {

class Rows : public RowSink {
 public:
  void add(std::vector<PointRow> rows) override {
    for (PointRow& row : rows) {
      CHECK_FALSE(cells.contains(row.point));
      cells[row.point] = std::move(row.cells);
    }
  }
  std::map<std::int64_t, std::vector<Cell>> cells;
};

// BERT-Base on a Pod4, some points of it without fit or sense.
const std::string k_sweep =
    "name = \"s\"\nsystem = \"pod4\"\n[model]\nconfig = \"bert-base-uncased\"\n"
    "[workload]\nsequence_length = 128\n[ipu]\nlayers_per_ipu = [3, 3, 3, 3]\n"
    "[sweep.axes]\n\"ipu.gradient_accumulation_steps\" = [4, 16, 64]\n\"workload.micro_batch_size\" = [1, 2, 4, 512]\n";

struct Scene {
  explicit Scene(const std::string& toml) {
    Diagnostics diagnostics;
    written.document = *parse_toml(toml, "s.toml", diagnostics);
  }
  SweepDefinition sweep(std::vector<SweepGroup> axes = {}) const {
    return read_sweep(written, std::move(axes), catalog, configs);
  }
  std::string told() const {
    try {
      sweep();
    } catch (const ConfigError& error) {
      return error.diagnostics().to_text();
    }
    return "";
  }
  Experiment written;
  Catalog catalog = make_catalog();
  ConfigFiles configs = ConfigFiles::embedded();
};

std::size_t column(const SweepSpace& space, const std::string& name) {
  const std::vector<Column> columns = sweep_columns(space);
  const auto found = std::ranges::find(columns, name, &Column::name);
  REQUIRE(found != columns.end());
  return static_cast<std::size_t>(found - columns.begin());
}

}  // namespace

TEST_CASE("sweep: each point has a row with its inputs, its verdict and the program") {
  const Scene scene(k_sweep);
  const SweepDefinition sweep = scene.sweep();
  Rows rows;
  const SweepCounts counts = run_sweep({sweep, scene.catalog, scene.configs, "native", "podsim x"}, rows, {});
  CHECK(counts.visited == 12);
  CHECK(counts.rows == 12);
  REQUIRE(rows.cells.size() == 12);
  const auto cell = [&](std::int64_t point, const std::string& name) {
    return csv_text(rows.cells.at(point)[column(sweep.space, name)]);
  };
  CHECK(cell(5, "ipu.gradient_accumulation_steps") == "16");
  CHECK(cell(5, "workload.micro_batch_size") == "2");
  CHECK(cell(5, "status") == "ok");
  CHECK(cell(5, "point") == "5");
  CHECK(cell(5, "tool") == "podsim x");
  CHECK(cell(5, "global_batch") == "32");
  CHECK(cell(5, "inputs_sha256").size() == 64);
  CHECK(cell(0, "status") == "invalid");
  CHECK(cell(0, "reason").starts_with("s.toml:10:"));
  CHECK(cell(7, "status") == "does_not_fit");
  CHECK(std::stod(cell(7, "broken_need")) > std::stod(cell(7, "broken_have")));
  CHECK(cell(7, "broken_unit") == "byte");
  CHECK(cell(7, "step_time_s").empty());
}

TEST_CASE("sweep: threads, shards and resumption give the same rows") {
  const Scene scene(k_sweep);
  const SweepDefinition sweep = scene.sweep();
  const SweepContext context{sweep, scene.catalog, scene.configs, "native", "x"};
  Rows alone;
  run_sweep(context, alone, {});
  Rows threads;
  SweepOptions options;
  options.jobs = 3;
  run_sweep(context, threads, options);
  CHECK(threads.cells == alone.cells);
  Rows shards;
  for (const std::int64_t number : {1, 2, 3, 4, 5}) {
    SweepOptions part;
    part.shard = {number, 5};
    const SweepCounts counts = run_sweep(context, shards, part);
    CHECK(counts.visited == part.shard.size(12));
  }
  CHECK(shards.cells == alone.cells);
  Rows rest;
  options.done = {0, 3, 4, 11};
  CHECK(run_sweep(context, rest, options).rows == 8);
  for (const std::int64_t point : options.done) CHECK_FALSE(rest.cells.contains(point));
}

TEST_CASE("sweep: asked to stop it ends between points") {
  const Scene scene(k_sweep);
  const SweepDefinition sweep = scene.sweep();
  Rows rows;
  SweepOptions options;
  options.stop = [&] { return rows.cells.size() >= 2; };
  const SweepCounts counts = run_sweep({sweep, scene.catalog, scene.configs, "native", "x"}, rows, options);
  CHECK(counts.interrupted);
  CHECK(rows.cells.size() == 2);
}

TEST_CASE("sweep: a condition leaves points out, over axes and keys of the base") {
  const Scene scene(k_sweep +
                    "[sweep]\nexclude = [\"workload.micro_batch_size * workload.sequence_length > 300\", "
                    "\"ipu.gradient_accumulation_steps == 64\"]\n");
  const SweepDefinition sweep = scene.sweep();
  Rows rows;
  const SweepCounts counts = run_sweep({sweep, scene.catalog, scene.configs, "native", "x"}, rows, {});
  CHECK(counts.left_out == 8);
  CHECK(counts.rows == 4);
}

TEST_CASE("sweep: a failing sink ends the threads and is told") {
  class Full : public RowSink {
    void add(std::vector<PointRow>) override { throw StoreError("full"); }
  };
  const Scene scene(k_sweep);
  const SweepDefinition sweep = scene.sweep();
  Full sink;
  SweepOptions options;
  options.jobs = 2;
  CHECK_THROWS_AS(run_sweep({sweep, scene.catalog, scene.configs, "native", "x"}, sink, options), StoreError);
}

TEST_CASE("sweep: a file may name the experiment it varies and replace keys of it") {
  const Scene scene(
      "[workload]\nmicro_batch_size = 1\n[sweep]\nexperiment = \"gpt2-caraml-pod4\"\n"
      "[sweep.axes]\n\"ipu.gradient_accumulation_steps\" = [64]\n");
  const SweepDefinition sweep = scene.sweep();
  CHECK(sweep.base.document.find("workload.micro_batch_size")->as_integer() == 1);
  CHECK(sweep.base.document.find("model.config")->as_string() == "gpt2");
  CHECK(sweep.base.document.find("sweep") == nullptr);
  const Scene missing("[sweep]\nexperiment = \"gpt2-caraml-pod5\"\n[sweep.axes]\na = [1]\n");
  CHECK(missing.told().find("no experiment is called \"gpt2-caraml-pod5\"") != std::string::npos);
}

TEST_CASE("sweep: faults of its section are told") {
  CHECK(Scene("system = \"pod4\"\n").told() ==
        "s.toml:1:1: sweep.axes: there is no axis; expected --axis KEY=V1,V2,… or a [sweep.axes] table\n");
  CHECK(Scene(k_sweep + "[sweep]\nsampling = \"rando\"\n").told() ==
        "s.toml:13:12: sweep.sampling: unknown value \"rando\"; expected grid, random or latin-hypercube; did you mean "
        "\"random\"?\n");
  CHECK(Scene(k_sweep + "[sweep]\npoints = 3\n").told() ==
        "s.toml:13:10: sweep.points: has no effect: a grid takes every point; expected sampling = \"random\" or "
        "\"latin-hypercube\", or no such key\n");
  CHECK(Scene(k_sweep + "[sweep]\nexclude = [3]\n").told() ==
        "s.toml:13:12: sweep.exclude[0]: is an integer; expected a string\n");
  CHECK(Scene(k_sweep + "[sweep]\nexclude = [\"workload.micro_batch > 3\"]\n").told() ==
        "s.toml:13:12: sweep.exclude: condition 'workload.micro_batch > 3': \"workload.micro_batch\" has no value; "
        "expected an axis or a key of the experiment\n");
  CHECK(Scene(k_sweep + "[sweep]\nexclude = [\"workload.micro_batch_size > 0\"]\n").told() ==
        "s.toml:13:12: sweep.exclude: excludes every point; expected conditions that leave points to run\n");
  CHECK(Scene(k_sweep + "[sweep]\nfoo = 1\n").told() ==
        "s.toml:13:1: sweep.foo: unknown key; expected one of experiment, axes, zip, exclude, sampling, "
        "points, seed\n");
  CHECK(Scene(k_sweep + "[sweep]\nsampling = \"random\"\npoints = 0\n").told() ==
        "s.toml:14:10: sweep.points: 0 is out of range; expected from 1 to 10000000\n");
  CHECK(Scene("system = \"pod4\"\n[sweep]\naxes = 3\n").told() ==
        "s.toml:3:8: sweep.axes: is an integer; expected a table\n");
}

TEST_CASE("sweep: an axis is of the experiment, and no point stands on it twice") {
  const std::string base = k_sweep.substr(0, k_sweep.find("[sweep.axes]"));
  CHECK(Scene(base + "[sweep.axes]\n\"sweep.seed\" = [1, 2]\n").told() ==
        "s.toml:10:17: sweep.axes.sweep.seed: is a setting of the sweep itself; expected a key of the experiment\n");
  CHECK(Scene(base + "[sweep.axes]\n\"workload.micro_batch_size\" = [1, 2, 1]\n").told() ==
        "s.toml:10:38: sweep.axes.workload.micro_batch_size: 1 stands twice; expected each point once\n");
  const std::string zipped = "[sweep.zip.both]\n\"workload.micro_batch_size\" = [1, 1, 1]\n";
  const std::string accumulation = "\"ipu.gradient_accumulation_steps\" = ";
  CHECK(Scene(base + zipped + accumulation + "[4, 16, 4]\n").told() ==
        "s.toml:10:38: sweep.axes.both: 1 with 4 stands twice; expected each point once\n");
  CHECK(Scene(base + zipped + accumulation + "[4, 16, 64]\n").sweep().space.size() == 3);
}

TEST_CASE("sweep: the hash is of what changes results, and the key of inputs alone") {
  const std::string first = Scene(k_sweep).sweep().input_sha256;
  CHECK(Scene(k_sweep).sweep().input_sha256 == first);
  CHECK(Scene(k_sweep + "[sweep]\nexclude = [\"1 > 2\"]\n").sweep().input_sha256 != first);
  const podsim::test::TemporaryFolder folder;
  Scene scene(k_sweep);
  const std::string path = folder.write("over.toml", "[a]\n");
  scene.written.overlays = {path};
  const std::string overlaid = scene.sweep().input_sha256;
  folder.write("over.toml", "[b]\n");
  CHECK(scene.sweep().input_sha256 != overlaid);
}

TEST_CASE("sweep audit: one point in a hundred, at least three, the same for a seed") {
  std::vector<std::int64_t> points;
  for (std::int64_t p = 0; p < 1000; ++p) points.push_back(2 * p);
  const std::vector<std::int64_t> sample = audit_sample(points, 1);
  CHECK(sample.size() == 10);
  CHECK(std::is_sorted(sample.begin(), sample.end()));
  CHECK(std::includes(points.begin(), points.end(), sample.begin(), sample.end()));
  CHECK(audit_sample(points, 1) == sample);
  CHECK(audit_sample(points, 2) != sample);
  CHECK(audit_sample({4, 5, 6, 7, 8}, 1).size() == 3);
  CHECK(audit_sample({4}, 1) == std::vector<std::int64_t>{4});
}

TEST_CASE("sweep audit: apart means by more than 16 ps and a part in a thousand million") {
  CHECK(judge_audit({{0, 1000, 1016}, {1, 100'000'000'000, 100'000'000'100}}).beyond == 0);
  CHECK(judge_audit({{0, 1000, 1017}}).beyond == 1);
  const AuditVerdict verdict = judge_audit({{0, 1000, 1000}, {1, 100'000'000'000, 99'999'999'899}});
  CHECK(verdict.beyond == 1);
  REQUIRE(verdict.worst.has_value());
  CHECK(verdict.worst->point == 1);
  CHECK(verdict.largest_difference == doctest::Approx(1.01e-9));
  CHECK_FALSE(judge_audit({}).worst.has_value());
}

TEST_CASE("sweep tables: the best, the front and the table are those of the rows") {
  const Scene scene(k_sweep);
  const SweepDefinition sweep = scene.sweep();
  const podsim::test::TemporaryFolder folder;
  SweepIdentity identity;
  identity.columns = sweep_columns(sweep.space);
  identity.inputs = sweep_inputs(sweep.space);
  SweepStore store = SweepStore::open(folder.path("s.sqlite"), identity);
  Rows rows;
  run_sweep({sweep, scene.catalog, scene.configs, "native", "x"}, rows, {});
  std::vector<PointRow> all;
  double most = 0;
  for (const auto& [point, cells] : rows.cells) {
    all.push_back({point, cells});
    const Cell& rate = cells[column(sweep.space, "samples_per_s")];
    if (const double* value = std::get_if<double>(&rate)) most = std::max(most, *value);
  }
  store.add(all);
  const Table best = best_points(store, sweep_metric(store, "samples_per_s"), 2);
  REQUIRE(best.rows.size() == 2);
  CHECK(best.rows[0].back() == Cell(most));
  CHECK(best.columns[1].name == "ipu.gradient_accumulation_steps");
  // The more micro-batches the faster, and the longer the step: every point of the best micro-batch is on the front.
  const Table front = pareto_front(store, sweep_metric(store, "samples_per_s"), sweep_metric(store, "step_time_s"));
  REQUIRE(front.rows.size() >= 2);
  for (std::size_t r = 1; r < front.rows.size(); ++r) {
    const auto metric = [&](std::size_t row, std::size_t from_end) {
      return std::get<double>(front.rows[row][front.columns.size() - from_end]);
    };
    CHECK(metric(r, 2) <= metric(r - 1, 2));
    CHECK(metric(r, 1) < metric(r - 1, 1));
  }
  const Table pivot = pivot_table(store, "workload.micro_batch_size", "ipu.gradient_accumulation_steps",
                                  sweep_metric(store, "samples_per_s"));
  CHECK(pivot.rows.size() == 4);
  CHECK(pivot.columns.size() == 4);
  CHECK(pivot.rows[3][2] == Cell());  // 512 does not fit
  CHECK_THROWS_AS(sweep_metric(store, "sample_per_s"), ConfigError);
  CHECK_THROWS_AS(sweep_metric(store, "bottleneck"), ConfigError);
  CHECK(sweep_metric(store, "global_batch:min").better == Better::lower);
  CHECK_THROWS_AS(pivot_table(store, "x", "ipu.gradient_accumulation_steps", {"mfu_pct"}), ConfigError);
}
