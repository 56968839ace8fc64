#include "models/loss_scaling/published.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <sstream>

#include "models/loss_scaling/gradient_statistics.hpp"
#include "sim/config/csv.hpp"
#include "sim/numerics/statistics.hpp"

namespace podsim::loss_scaling {
namespace {

constexpr const char* k_path = "loss_scaling/published-scales.csv";

class Reader {
 public:
  Reader(const Catalog& catalog, const ConfigFiles& configs)
      : catalog_(catalog), configs_(configs), constants_(read_gradient_constants(configs)) {}

  std::vector<PublishedScale> read() {
    const std::string file = configs_.display_name(k_path);
    const auto table = parse_csv(configs_.text(k_path).value_or(""), file, diagnostics_);
    std::vector<PublishedScale> scales;
    for (const CsvRow& row : table ? table->rows : std::vector<CsvRow>{}) {
      row_ = &row;
      columns_ = &table->columns;
      place_ = {file, row.line, 1};
      if (auto scale = read_row()) scales.push_back(std::move(*scale));
    }
    if (diagnostics_.has_errors()) throw ConfigError(diagnostics_);
    return scales;
  }

 private:
  std::string cell(const std::string& column) {
    const auto found = std::find(columns_->begin(), columns_->end(), column);
    if (found == columns_->end()) {
      diagnostics_.error(place_, column, "no such column");
      return {};
    }
    return row_->cells[static_cast<std::size_t>(found - columns_->begin())];
  }

  double number(const std::string& column, double fallback) {
    const std::string text = cell(column);
    if (text.empty()) return fallback;
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc() && end == text.data() + text.size() && value > 0) return value;
    diagnostics_.error(place_, column, fmt::format("\"{}\" is no positive number", text));
    return fallback;
  }

  // The row as the sections of an experiment.
  Value document() {
    Value document = Value::table(place_);
    const auto set = [&](const std::string& path, const std::string& text) {
      if (!text.empty()) document.set(path, parse_override_value(text, place_));
    };
    set("model.config", cell("model"));
    set("model.head", cell("head"));
    std::istringstream overrides(cell("overrides"));
    for (std::string assignment; overrides >> assignment;) {
      const std::size_t equals = std::min(assignment.find('='), assignment.size() - 1);
      set("model." + assignment.substr(0, equals), assignment.substr(equals + 1));
    }
    for (const char* key : {"micro_batch_size", "sequence_length", "masked_tokens"}) {
      set(std::string("workload.") + key, cell(key));
    }
    return document;
  }

  std::optional<PublishedScale> read_row() {
    const Value settings = document();
    const std::string name = cell("model");
    const std::string path = "models/" + name + ".json";
    const auto text = configs_.text(path);
    if (!text) {
      diagnostics_.error(place_, "model", fmt::format("no model is called \"{}\"", name));
      return std::nullopt;
    }
    const auto config = parse_json(*text, configs_.display_name(path), diagnostics_);
    const ModelKind* kind = config ? catalog_.model_kind(read_text(*config, "model_type").value_or("")) : nullptr;
    const auto shape = kind != nullptr ? kind->read(*config, *settings.find("model"), diagnostics_) : std::nullopt;
    if (!shape) return std::nullopt;
    std::vector<ResolvedKey> resolved;
    WorkloadSettings workload = SettingsReader(settings, resolved, diagnostics_).read(*kind, *shape, "");
    if (diagnostics_.has_errors()) return std::nullopt;
    const ModelGraph graph = kind->build(*shape, workload);
    std::string problem;
    std::optional<LossShape> loss = loss_shape(graph, *shape, workload, problem);
    if (!loss) {
      diagnostics_.error(place_, "head", problem);
      return std::nullopt;
    }
    return scale_of(graph, *loss);
  }

  PublishedScale scale_of(const ModelGraph& graph, LossShape loss) {
    const double per_sample = number("targets", 0);
    if (per_sample > 0) {
      loss.targets = per_sample * static_cast<double>(graph.samples);
      loss.bearing = loss.targets / static_cast<double>(graph.tokens);
    }
    GradientSettings gradients;
    gradients.accumulation = number("gradient_accumulation", 1);
    gradients.replicas = number("replicas", 1);
    gradients.pretrained = cell("training") == "fine-tuning";
    WindowSettings window;
    window.headroom = constants_.partials_headroom + constants_.spike_height;
    window.negligible = constants_.negligible_energy;
    const GradientModel model = gradient_model(graph, loss, gradients, constants_);
    return {cell("id"), cell("source"), number("loss_scale", 1), recommended_window(model, window)};
  }

  const Catalog& catalog_;
  const ConfigFiles& configs_;
  GradientConstants constants_;
  Diagnostics diagnostics_;
  const CsvRow* row_ = nullptr;
  const std::vector<std::string>* columns_ = nullptr;
  Place place_;
};

}  // namespace

bool PublishedScale::inside() const {
  const double log = std::log2(scale);
  return log >= window.low && log <= window.high;
}

std::vector<PublishedScale> published_scales(const Catalog& catalog, const ConfigFiles& configs) {
  return Reader(catalog, configs).read();
}

PublishedSummary summary_of(const std::vector<PublishedScale>& scales) {
  PublishedSummary summary;
  std::vector<int> widths;
  std::vector<std::pair<double, double>> pairs;
  for (const PublishedScale& scale : scales) {
    ++summary.count;
    summary.inside += scale.inside() ? 1 : 0;
    widths.push_back(scale.window.width());
    pairs.emplace_back(scale.window.centre(), std::log2(scale.scale));
  }
  if (widths.empty()) return summary;
  std::sort(widths.begin(), widths.end());
  const std::size_t half = widths.size() / 2;
  summary.median_width = widths.size() % 2 == 1 ? widths[half] : (widths[half - 1] + widths[half]) / 2.0;
  summary.rank_correlation = spearman(pairs);
  return summary;
}

}  // namespace podsim::loss_scaling
