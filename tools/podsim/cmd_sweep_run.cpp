// podsim sweep run: the points of a sweep into a database, or as CSV.

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <thread>

#include "models/catalog.hpp"
#include "sim/report/human.hpp"
#include "sim/report/make_report.hpp"
#include "sim/study/sweep.hpp"
#include "sim/study/sweep_tables.hpp"
#include "tools/podsim/child_process.hpp"
#include "tools/podsim/experiment_input.hpp"
#include "tools/podsim/interrupt.hpp"
#include "tools/podsim/output.hpp"
#include "tools/podsim/progress.hpp"
#include "tools/podsim/slurm.hpp"
#include "tools/podsim/sweep_output.hpp"
#include "tools/podsim/verbs.hpp"
#include "tools/podsim/version.hpp"

namespace podsim {
namespace {

constexpr std::int64_t k_unasked = 10'000'000;  // points that are run, or counted, without being asked twice
constexpr std::int64_t k_most_jobs = 1024;

Shard shard_from(const Arguments& arguments) {
  const std::optional<std::string> text = arguments.value("shard");
  if (!text) return {};
  Shard shard;
  const char* end = text->data() + text->size();
  const auto [slash, error] = std::from_chars(text->data(), end, shard.number);
  const bool first = error == std::errc() && slash != end && *slash == '/';
  const auto [last, second_error] =
      first ? std::from_chars(slash + 1, end, shard.of) : std::from_chars_result{end, error};
  const bool sound =
      first && second_error == std::errc() && last == end && shard.number >= 1 && shard.number <= shard.of;
  if (!sound) throw UsageError(fmt::format("option --shard: \"{}\" is not like 2/8", *text));
  return shard;
}

// How the sweep is to be run, from the command line.
struct Request {
  SweepContext context;
  Shard shard;
  int jobs = 1;
  bool quiet = false;
  std::int64_t total() const { return shard.size(context.sweep.space.size()); }
};

int jobs_from(const Arguments& arguments, const std::string& engine, bool into_database) {
  const unsigned cores = std::max(1U, std::thread::hardware_concurrency());
  const std::int64_t jobs = integer_option(arguments, "jobs").value_or(into_database && engine == "native" ? cores : 1);
  if (jobs < 1 || jobs > k_most_jobs) throw UsageError(fmt::format("option --jobs: {} is not from 1 to 1024", jobs));
  if (jobs > 1 && engine != "native") throw UsageError("option --jobs: the engine simgrid runs once per process");
  return static_cast<int>(jobs);
}

// The database of a sweep that stands in a file; empty: CSV.
std::string database_from(const Arguments& arguments, const Experiment& written) {
  const std::string out = arguments.value("out").value_or("");
  if (!out.empty()) return out.ends_with(".csv") ? "" : out;
  if (arguments.has("axis") || arguments.words().empty() || written.document.find("sweep") == nullptr) return "";
  std::string file = arguments.words().front();
  if (file.ends_with(".toml")) file.resize(file.size() - 5);
  return file + ".sqlite";
}

SweepIdentity identity_of(const Request& request) {
  SweepIdentity identity;
  identity.input_sha256 = request.context.sweep.input_sha256;
  identity.tool = request.context.tool;
  identity.definition = request.context.sweep.text;
  identity.columns = sweep_columns(request.context.sweep.space);
  identity.inputs = sweep_inputs(request.context.sweep.space);
  identity.points = request.context.sweep.space.size();
  identity.shard = request.shard.number;
  identity.shards = request.shard.of;
  return identity;
}

ExitCode dry_run(const Request& request, const std::string& database) {
  const SweepDefinition& sweep = request.context.sweep;
  std::string text;
  for (const SweepGroup& group : sweep.space.groups()) {
    const SweepAxis& axis = group.axes.front();
    text += axis.range ? fmt::format("{}: a range\n", group.name)
                       : fmt::format("{}: {} values\n", group.name, axis.values.size());
  }
  const std::int64_t total = request.total();
  const bool countable = total <= k_unasked;
  std::int64_t left_out = 0;
  for (std::int64_t p = request.shard.number - 1; countable && p < sweep.space.size(); p += request.shard.of) {
    if (sweep.leaves_out(sweep.space.values(p))) ++left_out;
  }
  const bool uncountable = sweep.space.size() >= SweepSpace::k_uncountable;
  text += fmt::format("{}{} points", uncountable ? "more than " : "", grouped(total));
  if (!sweep.excluded.empty())
    text += countable ? fmt::format(", {} left out", grouped(left_out)) : ", not all counted";
  const std::string path = shard_path(database, request.shard);
  if (!database.empty() && file_exists(path)) {
    SweepStore store = SweepStore::read(path);
    text += store.identity().input_sha256 == sweep.input_sha256
                ? fmt::format(", {} rows in {}", grouped(store.count()), path)
                : fmt::format("; {} holds another sweep", path);
  }
  print(text + "\n");
  return ExitCode::done;
}

SweepOptions options_of(const Request& request, Progress& progress) {
  SweepOptions options;
  options.shard = request.shard;
  options.jobs = request.jobs;
  options.stop = InterruptGuard::asked;
  options.progress = [&progress](const SweepCounts& counts) { progress.show(counts.visited); };
  return options;
}

// Runs points again on the reference engine, in a process of its own.
std::vector<AuditRow> audited(const Request& request, const std::map<std::int64_t, std::int64_t>& simulated) {
  std::vector<std::int64_t> points;
  for (const auto& [point, time] : simulated) points.push_back(point);
  const std::vector<std::int64_t> sample = audit_sample(points, request.context.sweep.space.plan().seed);
  const ChildResult result = run_in_child([&] {
    SweepContext reference = request.context;
    reference.engine = "simgrid";
    PointEvaluator evaluator(reference);
    std::string text;
    for (const std::int64_t point : sample) text += fmt::format("{}\n", evaluator.simulated_ps(point).value_or(-1));
    return text;
  });
  if (!result.error.empty()) throw StoreError("the sample on simgrid failed: " + result.error);
  std::vector<AuditRow> rows;
  const char* at = result.text.data();
  const char* end = at + result.text.size();
  for (const std::int64_t point : sample) {
    std::int64_t time = 0;
    at = std::from_chars(at, end, time).ptr;
    if (at != end) ++at;
    rows.push_back({point, simulated.at(point), time});
  }
  return rows;
}

// Our fault where the engines disagree or a point broke an invariant.
ExitCode verdict_of(const AuditVerdict& audit, std::int64_t internal_errors) {
  if (audit.beyond > 0) {
    print_error(
        fmt::format("podsim: the engines differ at {} points, worst at point {}: {} ps natively, {} ps on "
                    "simgrid; please report this with the sweep's files",
                    audit.beyond, audit.worst->point, audit.worst->native_ps, audit.worst->reference_ps));
  }
  if (internal_errors > 0) {
    print_error(fmt::format("podsim: {} points have status internal_error; please report them", internal_errors));
  }
  return audit.beyond > 0 || internal_errors > 0 ? ExitCode::internal : ExitCode::done;
}

ExitCode run_as_csv(const Request& request, const std::string& file) {
  CsvSink sink(sweep_columns(request.context.sweep.space), file, request.jobs == 1);
  SweepCounts counts;
  {
    Progress progress(request.total(), 0, request.quiet);
    counts = run_sweep(request.context, sink, options_of(request, progress));
  }
  sink.finish();
  if (counts.interrupted) return ExitCode::interrupted;
  AuditVerdict audit;
  if (request.context.engine == "native" && !sink.simulated().empty()) {
    audit = judge_audit(audited(request, sink.simulated()));
  }
  return verdict_of(audit, counts.internal_errors);
}

std::map<std::int64_t, std::int64_t> simulated_points(SweepStore& store) {
  std::map<std::int64_t, std::int64_t> points;
  Statement select = store.database().prepare("SELECT point, simulated_ps FROM points WHERE simulated_ps IS NOT NULL");
  while (select.step()) points.emplace(select.integer(0), select.integer(1));
  return points;
}

std::string summary_of(SweepStore& store, const AuditVerdict& audit) {
  std::string text = fmt::format("{}: {} rows", store.path(), grouped(store.count()));
  for (const std::vector<Cell>& row : status_table(store).rows) {
    text += fmt::format(", {} {}", grouped(std::get<std::int64_t>(row[1])), std::get<std::string>(row[0]));
  }
  Statement reasons = store.database().prepare(
      "SELECT reason, count(*) FROM points WHERE status = 'invalid' GROUP BY reason ORDER BY 2 DESC, 1 LIMIT 3");
  while (reasons.step()) text += fmt::format("\n  {} invalid: {}", grouped(reasons.integer(1)), reasons.text(0));
  if (audit.worst) text += fmt::format("\nsimgrid agrees within {:.2g}", audit.largest_difference);
  return text + fmt::format("\nnext: podsim sweep show {}\n", store.path());
}

// Already there from an earlier call: not run again.
AuditVerdict audit_of(const Request& request, SweepStore& store) {
  if (request.context.engine != "native") return {};
  const std::map<std::int64_t, std::int64_t> simulated = simulated_points(store);
  if (simulated.empty()) return {};
  std::vector<AuditRow> rows = store.audit();
  if (!store.identity().complete || rows.empty()) {
    rows = audited(request, simulated);
    store.set_audit(rows);
  }
  return judge_audit(rows);
}

ExitCode run_into_database(const Request& request, const std::string& database) {
  SweepStore store = SweepStore::open(shard_path(database, request.shard), identity_of(request));
  StoreSink sink(store);
  SweepCounts counts;
  {
    const std::vector<std::int64_t> done = store.done();
    Progress progress(request.total(), static_cast<std::int64_t>(done.size()), request.quiet);
    SweepOptions options = options_of(request, progress);
    options.done = done;
    counts = run_sweep(request.context, sink, options);
  }
  sink.flush();
  AuditVerdict audit;
  if (!counts.interrupted) audit = audit_of(request, store);
  if (counts.interrupted || InterruptGuard::asked()) {
    print_error(
        fmt::format("interrupted: {} rows are in {}; the same command goes on", grouped(store.count()), store.path()));
    return ExitCode::interrupted;
  }
  store.set_complete();
  store.finish();
  if (!request.quiet) print(summary_of(store, audit));
  return verdict_of(audit, store.database().integer("SELECT count(*) FROM points WHERE status = 'internal_error'"));
}

// Following the loss scale takes longer than a point: it is done where the experiment asks for it.
bool asks_for_loss_scale(const Experiment& experiment) {
  return experiment.document.find("loss_scaling") != nullptr ||
         experiment.document.find("ipu.auto_loss_scaling") != nullptr;
}

void refuse_endless(const Arguments& arguments, const Request& request) {
  const std::int64_t total = request.total();
  if (request.context.sweep.space.size() >= SweepSpace::k_uncountable) {
    throw UsageError("the grid has more points than can be counted; use sampling = \"random\" or \"latin-hypercube\"");
  }
  if (total <= k_unasked || arguments.has("yes")) return;
  throw UsageError(
      fmt::format("the sweep has {} points; give --yes to run more than {}", grouped(total), grouped(k_unasked)));
}

const OptionSpec& engine_option() {
  static const OptionSpec k_option{"engine", "NAME", "the fast one, or the reference", false, {"native", "simgrid"}};
  return k_option;
}

}  // namespace

const VerbSpec& sweep_run_spec() {
  static const VerbSpec k_spec{
      "sweep run",
      "sweep run [FILE] [options]",
      "Simulate an experiment at every point of a sweep.",
      "FILE with a [sweep] section (`podsim explain sweep`) fills FILE.sqlite, and goes on where it was ended; axes "
      "of\n"
      "the command line print CSV. Points that are invalid or do not fit are rows with a status and a reason.\n"
      "Elsewhere: seq 8 | parallel podsim sweep run FILE --shard {}/8; mpirun -n 8 sh -c 'podsim sweep run FILE\n"
      "--shard $((OMPI_COMM_WORLD_RANK+1))/8'; then `podsim sweep merge`.",
      joined({{"axis", "KEY=V1,V2,…", "values of a key; more axes span a grid", true}},
             joined(experiment_options(),
                    {engine_option(),
                     {"jobs", "N", "threads (-j N; default: all cores into a database, else 1)"},
                     {"out", "FILE", "the database, or FILE.csv"},
                     {"force", "", "let --out replace a CSV file; never a database"},
                     {"dry-run", "", "count the points; with --slurm print the script"},
                     {"yes", "", "run more than 10 million points"},
                     {"shard", "K/N", "every N-th point from the K-th, into FILE.shard-K-of-N.sqlite"},
                     {"slurm", "", "submit shards as a job array, wait and merge"},
                     {"tasks", "N", "how many shards"},
                     {"partition", "NAME", "of the batch system"},
                     {"sbatch", "OPTION", "a further option of sbatch, like --time=2:00:00", true},
                     {"quiet", "", "no progress, no summary"}})),
      {"podsim sweep run gpt2-caraml-pod4 --axis ipu.gradient_accumulation_steps=16,64,256",
       "podsim sweep run sweep.toml -j 2"}};
  return k_spec;
}

ExitCode cmd_sweep_run(const Arguments& arguments) {
  const std::string engine = choice_option(arguments, engine_option());
  const ConfigFiles configs = configs_from(arguments);
  const Catalog catalog = make_catalog();
  Diagnostics diagnostics;
  std::vector<SweepGroup> axes = parse_axes(arguments.values("axis"), diagnostics);
  const bool over_systems = std::any_of(axes.begin(), axes.end(), [](const SweepGroup& axis) {
    return axis.name == "system" || axis.name == "system.name";
  });
  const Experiment written =
      experiment_from(arguments, arguments.words().empty() ? "" : arguments.words().front(), over_systems);
  if (diagnostics.has_errors()) throw ConfigError(diagnostics);
  const SweepDefinition sweep = read_sweep(written, std::move(axes), catalog, configs);
  const std::string database = database_from(arguments, written);
  Request request{{sweep, catalog, configs, engine, fmt::format("podsim {} ({})", version(), commit())},
                  shard_from(arguments),
                  jobs_from(arguments, engine, !database.empty()),
                  arguments.has("quiet")};
  request.context.completes = asks_for_loss_scale;
  request.context.complete = [&](const Experiment& point, Plan& plan, Report& report) {
    const std::optional<LossScaleOutlook> loss_scale = loss_scale_of(plan, point, catalog, configs);
    if (loss_scale) add_loss_scale(*loss_scale, report);
  };
  if (!request.quiet && !sweep.warnings.all().empty()) print_error(sweep.warnings.to_text());
  if (arguments.has("slurm")) return run_on_slurm(arguments, database, request.context.sweep.space.size());
  for (const char* option : {"tasks", "partition", "sbatch"}) {
    if (arguments.has(option)) throw UsageError(fmt::format("option --{} has no effect without --slurm", option));
  }
  if (!request.quiet && request.total() == 0) {
    print_error(fmt::format("warning: --shard: the sweep has {} points, shard {} of {} none of them",
                            sweep.space.size(), request.shard.number, request.shard.of));
  }
  if (arguments.has("dry-run")) return dry_run(request, database);
  refuse_endless(arguments, request);
  const InterruptGuard guard;
  if (!database.empty()) return run_into_database(request, database);
  const std::string file = arguments.value("out").value_or("");
  if (!file.empty()) refuse_overwrite(file, arguments.has("force"));
  return run_as_csv(request, file);
}

}  // namespace podsim
