#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/config/key_spec.hpp"
#include "sim/plan/constants_loader.hpp"
#include "sim/plan/inputs_hash.hpp"
#include "sim/plan/plan.hpp"
#include "sim/plan/plan_cache.hpp"
#include "sim/plan/settings_reader.hpp"

namespace podsim {
namespace {

class PlanMaker {
 public:
  // `experiment` without its document.
  PlanMaker(Value document, const Experiment& experiment, const Catalog& catalog, const ConfigFiles& configs,
            PlanCache* cache)
      : overlays_(experiment.overlays),
        varied_(experiment.varied),
        catalog_(catalog),
        configs_(configs),
        cache_(cache),
        shared_(cache != nullptr ? *cache : own_),
        document_(with_machine_tables(std::move(document))) {}

  PlanResult make() {
    check_document();
    choose_name();
    choose_machine_once();
    vary_constants();
    plan_.family = catalog_.family(machine_.family);
    if (plan_.family != nullptr) plan_.family->fill_shared(document_, diagnostics_);
    const bool has_model = read_model();
    check_sections();
    // With problems elsewhere, too: its own are told in the same run. It gives no plan then.
    if (has_model && machine_.complete) resolve_family();
    PlanResult result;
    result.diagnostics = diagnostics_;
    if (diagnostics_.has_errors()) return result;
    for (const Diagnostic& diagnostic : diagnostics_.all()) {
      plan_.warnings.warning(diagnostic.place, diagnostic.key, diagnostic.problem, diagnostic.expected,
                             diagnostic.suggestion);
    }
    finish();
    result.plan = std::move(plan_);
    return result;
  }

 private:
  std::vector<KeySpec> document_keys() const {
    std::vector<KeySpec> keys = shared_keys();
    for (const auto& family : catalog_.families) {
      KeySpec section;
      section.path = std::string(family->name());
      section.type = KeyType::table;
      keys.push_back(section);
    }
    return keys;
  }

  void check_document() {
    Diagnostics found;
    if (cache_ != nullptr) {
      check_keys(document_, "", cache_->keys([this] { return document_keys(); }), found);
    } else {
      check_keys(document_, "", document_keys(), found);
    }
    diagnostics_.append(found);
    // What is wrong reads as not written, so that the checks behind it work on sound values.
    for (const Diagnostic& problem : found.all()) {
      const bool of_model = problem.key.starts_with("model.") && problem.key != "model.config";
      const bool setting = problem.key.starts_with("workload.") || of_model;
      if (setting) document_.set(problem.key, Value::null(problem.place));
    }
  }

  void choose_name() {
    std::string fallback = document_.place().file;
    fallback = fallback.substr(fallback.rfind('/') + 1);
    fallback = fallback.substr(0, fallback.rfind('.'));
    SettingsReader reader(document_, plan_.resolved, diagnostics_);
    plan_.name = reader.text("name", fallback.empty() ? "unnamed" : fallback, "default: the file's name");
  }

  void choose_machine_once() {
    if (cache_ == nullptr) {
      machine_ = choose_machine(document_, overlays_, configs_, plan_.resolved, diagnostics_);
      return;
    }
    std::vector<Value> sections;
    for (const char* section : {"system", "chip", "software", "cost", "memory"}) {
      const Value* written = document_.find(section);
      sections.push_back(written != nullptr ? *written : Value());
    }
    const PlanCache::Machine* known = cache_->machine(sections, overlays_);
    if (known == nullptr) {
      PlanCache::Machine fresh{std::move(sections), overlays_, {}, {}, {}};
      fresh.choice =
          choose_machine(document_, overlays_, configs_, fresh.resolved, fresh.diagnostics, &cache_->machine_files());
      known = &cache_->keep(std::move(fresh));
    }
    machine_ = known->choice;
    plan_.resolved.insert(plan_.resolved.end(), known->resolved.begin(), known->resolved.end());
    diagnostics_.append(known->diagnostics);
  }

  void vary_constants() {
    if (varied_.empty()) return;
    machine_.constants = shared_.varied(machine_.constants, varied_);
  }

  // Sections of other families have no effect here; keys of the own one are the family's to check.
  void check_sections() {
    for (const auto& family : catalog_.families) {
      const Value* section = document_.find(family->name());
      if (section == nullptr || family.get() == plan_.family || plan_.family == nullptr) continue;
      diagnostics_.warning(
          section->place(), std::string(family->name()),
          fmt::format("has no effect: system \"{}\" is of family \"{}\"", machine_.system, machine_.family));
    }
    const Value* report = document_.find("report");
    if (report != nullptr) diagnostics_.warning(report->place(), "report", "has no effect yet");
    const Value* loss_scaling = document_.find("loss_scaling");
    if (loss_scaling == nullptr) return;
    check_keys(*loss_scaling, "loss_scaling", catalog_.loss_scaling_keys, diagnostics_);
    record_written(*loss_scaling, "loss_scaling");
  }

  // Keys of a section whose defaults follow from the plan itself, so that its own text reproduces what was asked for.
  void record_written(const Value& table, const std::string& path) {
    if (!table.is(Value::Kind::table)) return;
    for (const Value::Member& member : table.members()) {
      const std::string key = path + "." + member.key;
      const std::string origin = origin_of(member.value.place());
      switch (member.value.kind()) {
        case Value::Kind::table:
          record_written(member.value, key);
          break;
        case Value::Kind::string:
          plan_.resolved.push_back({key, toml_string(member.value.as_string()), origin});
          break;
        case Value::Kind::boolean:
          plan_.resolved.push_back({key, member.value.as_boolean() ? "true" : "false", origin});
          break;
        case Value::Kind::integer:
          plan_.resolved.push_back({key, std::to_string(member.value.as_integer()), origin});
          break;
        case Value::Kind::floating:
          plan_.resolved.push_back({key, fmt::format("{}", member.value.as_number()), origin});
          break;
        case Value::Kind::array:
        case Value::Kind::null:
          break;  // no key of the section has such a value
      }
    }
  }

  bool read_model() {
    const Value* written = document_.find("model.config");
    if (written == nullptr) {
      diagnostics_.error(document_.place(), "model.config", "is missing",
                         "the path of a config.json or one of " + shipped_models());
      return false;
    }
    if (!written->is(Value::Kind::string)) return false;  // reported by the key check
    if (const PlanCache::Model* known = cache_ != nullptr ? cache_->model(*document_.find("model")) : nullptr) {
      return take_model(*known);
    }
    const std::optional<Value> config = read_model_file(*written);
    if (!config) return false;
    if (!config->is(Value::Kind::table)) {
      diagnostics_.error(config->place(), "", "is " + kind_name(config->kind()), "an object with the model's fields");
      return false;
    }
    return read_shape(*written, *config);
  }

  std::string shipped_models() const {
    std::vector<std::string> names;
    for (const std::string& path : configs_.list("models/")) names.push_back(path.substr(7, path.rfind('.') - 7));
    return fmt::format("{}", fmt::join(names, ", "));
  }

  std::optional<Value> read_model_file(const Value& written) {
    const std::string& name = written.as_string();
    const std::string shipped = "models/" + name + ".json";
    if (const auto text = configs_.text(shipped))
      return parse_json(*text, configs_.display_name(shipped), diagnostics_);
    const bool named = name.find('/') == std::string::npos && !name.ends_with(".json");
    if (named && !file_exists(path_from(written))) {
      std::vector<std::string> names;
      for (const std::string& path : configs_.list("models/")) names.push_back(path.substr(7, path.rfind('.') - 7));
      diagnostics_.error(written.place(), "model.config", fmt::format("no model is called \"{}\"", name),
                         "the path of a config.json or one of " + shipped_models(), nearest(name, names));
      return std::nullopt;
    }
    const std::string path = path_from(written);
    const auto text = read_text_file(path, written.place(), "model.config", diagnostics_);
    if (!text) return std::nullopt;
    return parse_json(*text, path, diagnostics_);
  }

  bool take_model(const PlanCache::Model& model) {
    plan_.model_kind = model.kind;
    plan_.shape = model.shape;
    plan_.resolved.insert(plan_.resolved.end(), model.resolved.begin(), model.resolved.end());
    diagnostics_.append(model.diagnostics);
    read_settings(model.implied_head);
    return true;
  }

  void read_settings(const std::string& implied_head) {
    const PlanCache::Settings* known = cache_ != nullptr ? cache_->settings(document_) : nullptr;
    if (known != nullptr) {
      plan_.settings = known->settings;
      plan_.resolved.insert(plan_.resolved.end(), known->resolved.begin(), known->resolved.end());
      return;
    }
    const auto resolved = static_cast<std::ptrdiff_t>(plan_.resolved.size());
    const std::size_t told = diagnostics_.all().size();
    SettingsReader reader(document_, plan_.resolved, diagnostics_);
    plan_.settings = reader.read(*plan_.model_kind, plan_.shape, implied_head);
    if (cache_ == nullptr || diagnostics_.has_errors() || diagnostics_.all().size() != told) return;
    cache_->keep_settings(document_, plan_.settings, {plan_.resolved.begin() + resolved, plan_.resolved.end()});
  }

  // Only what was read without a problem is kept: problems are told with all that belongs to them.
  void keep_model(const std::string& implied_head, std::size_t resolved, std::size_t told) {
    if (cache_ == nullptr || diagnostics_.has_errors() || diagnostics_.all().size() != told) return;
    const auto own = plan_.resolved.begin() + static_cast<std::ptrdiff_t>(resolved);
    cache_->keep(PlanCache::Model{
        *document_.find("model"), plan_.model_kind, implied_head, plan_.shape, {own, plan_.resolved.end()}, {}});
  }

  bool read_shape(const Value& written, const Value& config) {
    const std::size_t resolved = plan_.resolved.size();
    const std::size_t told = diagnostics_.all().size();
    std::string implied_head;
    plan_.model_kind = kind_of(config, implied_head);
    if (plan_.model_kind == nullptr) return false;
    const Value* overrides = document_.find("model");
    const std::optional<ModelShape> shape = plan_.model_kind->read(config, *overrides, diagnostics_);
    if (!shape || !check_images(*shape, config)) return false;
    plan_.shape = *shape;
    plan_.shape.name = model_name(written.as_string(), plan_.shape.type);
    const bool shipped = configs_.text("models/" + written.as_string() + ".json").has_value();
    const std::string source = shipped ? written.as_string() : path_from(written);
    plan_.resolved.push_back({"model.config", toml_string(source), origin_of(written.place()), !shipped});
    for (const Value::Member& member : overrides->members()) {
      if (member.key == "config" || member.key == "head" || !member.value.is(Value::Kind::integer)) continue;
      plan_.resolved.push_back(
          {"model." + member.key, std::to_string(member.value.as_integer()), origin_of(member.value.place())});
    }
    warn_of_idle_dimensions(*overrides);
    keep_model(implied_head, resolved, told);
    read_settings(implied_head);
    return true;
  }

  // The kind of model has read all that it knows.
  void warn_of_idle_dimensions(const Value& overrides) {
    for (const Value::Member& member : overrides.members()) {
      if (!member.value.is(Value::Kind::integer) || plan_.shape.dimensions.contains(member.key)) continue;
      diagnostics_.warning(member.value.place(), "model." + member.key,
                           fmt::format("has no effect: a {} model has no such dimension", plan_.shape.type));
    }
  }

  // That the images a model was made for are large enough for it.
  bool check_images(const ModelShape& shape, const Value& config) {
    const std::int64_t size = plan_.model_kind->workload_defaults(shape).image_size;
    if (size == 0 || plan_.model_kind->image_tokens(shape, size) > 0) return true;
    const Value* written = document_.find("model.image_size");
    if (written == nullptr) written = config.find("image_size");
    diagnostics_.error(written != nullptr ? written->place() : config.place(), "image_size",
                       fmt::format("images of {0} × {0} are too small for the patches or strides of the model", size),
                       fmt::format("at least {}", least_image_size(*plan_.model_kind, shape)));
    return false;
  }

  // The file's folder for a config.json, else its name.
  static std::string model_name(std::string path, const std::string& type) {
    if (path != "config.json" && !path.ends_with("/config.json")) return path.substr(path.rfind('/') + 1);
    path.resize(path.size() - std::min<std::size_t>(path.size(), 12));
    const std::string folder = path.substr(path.rfind('/') + 1);
    return folder.empty() || folder == "." || folder == ".." ? type : folder;
  }

  // Leaves `name` empty where the list is absent or empty; false, with an error, where it is no list of names.
  bool read_first_architecture(const Value* architectures, std::string& name) {
    if (architectures == nullptr || architectures->is(Value::Kind::null)) return true;
    const bool array = architectures->is(Value::Kind::array);
    if (array && architectures->elements().empty()) return true;
    const Value& first = array ? architectures->elements()[0] : *architectures;
    if (array && first.is(Value::Kind::string)) {
      name = first.as_string();
      return true;
    }
    diagnostics_.error(first.place(), "architectures", "is " + kind_name(first.kind()),
                       array ? "a class name" : "an array of class names");
    return false;
  }

  // By model_type, else by the first known class name in `architectures`, which also implies a head.
  const ModelKind* kind_of(const Value& config, std::string& implied_head) {
    const Value* written_type = config.find("model_type");
    if (written_type != nullptr && !written_type->is(Value::Kind::string) && !written_type->is(Value::Kind::null)) {
      diagnostics_.error(written_type->place(), "model_type", "is " + kind_name(written_type->kind()), "a string");
      return nullptr;
    }
    const std::optional<std::string> type = read_text(config, "model_type");
    const ModelKind* kind = type ? catalog_.model_kind(*type) : nullptr;
    const Value* architectures = config.find("architectures");
    std::string first_architecture;
    if (!read_first_architecture(architectures, first_architecture)) return nullptr;
    for (const auto& candidate : catalog_.model_kinds) {
      if (kind != nullptr && candidate.get() != kind) continue;
      for (const auto& [architecture, head] : candidate->architectures()) {
        if (architecture != first_architecture) continue;
        implied_head = head;
        if (!type) kind = candidate.get();
      }
    }
    if (kind == nullptr) report_unknown_type(config, type, first_architecture);
    if (kind != nullptr && implied_head.empty() && !first_architecture.empty() &&
        document_.find("model.head") == nullptr) {
      diagnostics_.warning(
          architectures->place(), "architectures",
          fmt::format("\"{}\" is not known: the head is taken as \"{}\"", first_architecture, kind->heads()[0]),
          "a known class, or model.head");
    }
    return kind;
  }

  void report_unknown_type(const Value& config, const std::optional<std::string>& type,
                           const std::string& architecture) {
    std::vector<std::string> types;
    for (const auto& kind : catalog_.model_kinds) types.emplace_back(kind->type());
    const std::string expected = fmt::format("one of {}", fmt::join(types, ", "));
    if (type) {
      diagnostics_.error(config.find("model_type")->place(), "model_type", fmt::format("\"{}\" is not modelled", *type),
                         expected, nearest(*type, types));
    } else if (!architecture.empty()) {
      diagnostics_.error(config.find("architectures")->place(), "architectures",
                         fmt::format("\"{}\" is not known and model_type is absent", architecture),
                         "model_type, " + expected);
    } else {
      diagnostics_.error(config.place(), "model_type", "is missing", expected);
    }
  }

  void resolve_family() {
    if (plan_.family == nullptr) {
      std::vector<std::string> known;
      for (const auto& family : catalog_.families) known.emplace_back(family->name());
      diagnostics_.error(machine_.family_named_at, "family", fmt::format("no family is called \"{}\"", machine_.family),
                         fmt::format("one of {}", fmt::join(known, ", ")), nearest(machine_.family, known));
      return;
    }
    const Value empty = Value::table({"default", 0, 0});
    const Value* section = document_.find(plan_.family->name());
    FamilyContext context{section != nullptr ? *section : empty,
                          machine_.constants,
                          *plan_.model_kind,
                          plan_.shape,
                          plan_.settings,
                          machine_.system,
                          machine_.nodes,
                          machine_.slowdown,
                          &shared_};
    Diagnostics found;
    found.append(diagnostics_);  // a family gives no plan when there are errors already
    try {
      plan_.family_plan = plan_.family->resolve(context, found);
    } catch (const ConfigError& unusable_constant) {
      found.append(unusable_constant.diagnostics());
    }
    tell_at_their_keys(found, section);
  }

  // A family does not know where shared keys stand: its problems with them come with the place of its own section.
  void tell_at_their_keys(const Diagnostics& found, const Value* section) {
    const Place elsewhere = section != nullptr ? section->place() : Place{"default", 0, 0};
    for (std::size_t i = diagnostics_.all().size(); i < found.all().size(); ++i) {
      const Diagnostic& problem = found.all()[i];
      const Value* written = document_.find(problem.key);
      const bool placeless = problem.place == elsewhere || problem.place.file.empty();
      const Place& place = written != nullptr && placeless ? written->place() : problem.place;
      const auto tell = problem.severity == Severity::error ? &Diagnostics::error : &Diagnostics::warning;
      (diagnostics_.*tell)(place, problem.key, problem.problem, problem.expected, problem.suggestion);
    }
  }

  void finish() {
    plan_.system = machine_.system;
    plan_.chip = machine_.chip;
    plan_.software = machine_.software;
    plan_.nodes = machine_.nodes;
    plan_.constants = std::move(machine_.constants);
    plan_.graph = shared_.graph(*plan_.model_kind, plan_.shape, plan_.settings);
    const Place place = document_.find("model.config")->place();
    const std::vector<std::string> notes =
        plan_.family->costs_model_graph() ? plan_.graph.notes : std::vector<std::string>{};
    for (const std::string& note : notes) plan_.warnings.warning(place, "model.config", note);
    if (cache_ == nullptr) plan_.inputs_sha256 = inputs_hash(plan_);
  }

  const std::vector<std::string>& overlays_;
  const std::vector<ConstantChange>& varied_;
  const Catalog& catalog_;
  const ConfigFiles& configs_;
  PlanCache* cache_;  // of earlier plans; null: none
  PlanCache own_;     // of this plan alone
  PlanCache& shared_;
  Value document_;
  MachineChoice machine_;
  Plan plan_;
  Diagnostics diagnostics_;
};

}  // namespace

std::optional<double> constant_value(const Plan& plan, std::string_view name) {
  const std::optional<ConstantId> id = plan.constants.find(name);
  return id ? std::optional(plan.constants[*id].base_value) : std::nullopt;
}

PlanResult make_plan(const Experiment& experiment, const Catalog& catalog, const ConfigFiles& configs) {
  return PlanMaker(experiment.document, experiment, catalog, configs, nullptr).make();
}

PlanResult make_plan(const Experiment& experiment, const Catalog& catalog, const ConfigFiles& configs,
                     PlanCache& cache) {
  return PlanMaker(experiment.document, experiment, catalog, configs, &cache).make();
}

PlanResult make_plan(Experiment&& experiment, const Catalog& catalog, const ConfigFiles& configs, PlanCache& cache) {
  return PlanMaker(std::move(experiment.document), experiment, catalog, configs, &cache).make();
}

}  // namespace podsim
