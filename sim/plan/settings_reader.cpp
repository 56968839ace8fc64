#include "sim/plan/settings_reader.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/config/key_spec.hpp"
#include "sim/units/text.hpp"

namespace podsim {
namespace {

RunMode mode_of(const std::string& text) {
  if (text == "inference") return RunMode::inference;
  if (text == "generation") return RunMode::generation;
  return RunMode::training;
}

}  // namespace

std::string origin_of(const Place& place) {
  if (place.line == 0) return place.file;
  return fmt::format("{}:{}:{}", place.file, place.line, place.column);
}

std::string path_from(const Value& path) {
  const std::string& written = path.as_string();
  const Place& place = path.place();
  const std::size_t slash = place.file.rfind('/');
  const bool relative_to_file =
      place.line > 0 && !written.empty() && written.front() != '/' && slash != std::string::npos;
  return relative_to_file ? place.file.substr(0, slash + 1) + written : written;
}

std::string toml_string(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      quoted += fmt::format("\\u{:04X}", static_cast<unsigned>(static_cast<unsigned char>(c)));
    } else {
      quoted += c;
    }
  }
  return quoted + "\"";
}

std::int64_t SettingsReader::integer(const std::string& path, std::int64_t fallback,
                                     const std::string& fallback_origin) {
  const std::optional<std::int64_t> written = read_integer(document_, path);
  const std::int64_t value = written.value_or(fallback);
  resolved_.push_back(
      {path, std::to_string(value), written ? origin_of(document_.find(path)->place()) : fallback_origin});
  return value;
}

double SettingsReader::number(const std::string& path, double fallback, const std::string& fallback_origin) {
  const std::optional<double> written = read_number(document_, path);
  const double value = written.value_or(fallback);
  resolved_.push_back(
      {path, format_number(value), written ? origin_of(document_.find(path)->place()) : fallback_origin});
  return value;
}

bool SettingsReader::boolean(const std::string& path, bool fallback, const std::string& fallback_origin) {
  const std::optional<bool> written = read_boolean(document_, path);
  const bool value = written.value_or(fallback);
  resolved_.push_back(
      {path, value ? "true" : "false", written ? origin_of(document_.find(path)->place()) : fallback_origin});
  return value;
}

std::string SettingsReader::text(const std::string& path, const std::string& fallback,
                                 const std::string& fallback_origin) {
  const std::optional<std::string> written = read_text(document_, path);
  std::string value = written.value_or(fallback);
  if (!value.empty()) {
    resolved_.push_back(
        {path, toml_string(value), written ? origin_of(document_.find(path)->place()) : fallback_origin});
  }
  return value;
}

WorkloadSettings SettingsReader::read(const ModelKind& kind, const ModelShape& shape, const std::string& implied_head) {
  WorkloadSettings settings;
  settings.mode = mode_of(text("workload.mode", "training", "default"));
  read_head(kind, implied_head, settings);
  if (const auto precision = read_text(document_, "workload.precision")) {
    settings.precision = *precision;  // printed by the family, which knows the default
  }
  settings.micro_batch_size = integer("workload.micro_batch_size", 1, "default");
  settings.packing_factor = number("workload.packing_factor", 1.0, "default: not packed");
  read_shapes(kind, shape, settings);
  settings.optimizer = text("workload.optimizer", "adamw", "default");
  if (const auto format = read_text(document_, "workload.first_moment_format")) {
    settings.first_moment_bytes = *format == "float16" ? 2 : 4;  // printed by the family, like precision
  }
  settings.recompute = boolean("workload.recompute", true, "default: as pipelined training does");
  const WorkloadDefaults defaults = kind.workload_defaults(shape);
  settings.split_qkv = boolean("workload.split_qkv", defaults.split_qkv, "default");
  settings.attention_dropout = boolean("workload.attention_dropout", defaults.attention_dropout, "default");
  settings.ffn_dropout = boolean("workload.ffn_dropout", defaults.ffn_dropout, "default");
  settings.activation_checkpoint_format = text("workload.activation_checkpoint_format", "float16", "default");
  read_targets(settings);
  return settings;
}

void SettingsReader::read_head(const ModelKind& kind, const std::string& implied_head, WorkloadSettings& settings) {
  const std::vector<std::string> heads = kind.heads();
  const bool implied = !implied_head.empty();
  settings.head = text("model.head", implied ? implied_head : heads.front(),
                       implied ? "the configuration's architectures" : "default of the model type");
  if (std::find(heads.begin(), heads.end(), settings.head) == heads.end()) {
    const Value* written = document_.find("model.head");
    diagnostics_.error(written != nullptr ? written->place() : Place{"model", 0, 0}, "model.head",
                       fmt::format("a {} model has no \"{}\" head", kind.type(), settings.head),
                       "one of " + fmt::format("{}", fmt::join(heads, ", ")), nearest(settings.head, heads));
    settings.head = heads.front();  // for the checks that follow
  }
}

void SettingsReader::read_shapes(const ModelKind& kind, const ModelShape& shape, WorkloadSettings& settings) {
  const WorkloadDefaults defaults = kind.workload_defaults(shape);
  if (defaults.image_size > 0) {
    read_image(kind, shape, defaults, settings);
  } else if (settings.mode == RunMode::generation) {
    read_generation(kind.maximum_sequence_length(shape), settings);
  } else {
    read_sequence(kind, shape, settings);
  }
  if (settings.packing_factor > static_cast<double>(settings.sequence_length)) {
    diagnostics_.error(document_.find("workload.packing_factor")->place(), "workload.packing_factor",
                       fmt::format("{} sequences in a pack of {} tokens", format_number(settings.packing_factor),
                                   settings.sequence_length),
                       "at most a sequence per token");
  }
  const std::int64_t usual = kind.default_masked_tokens(settings);
  if (usual > 0) {
    settings.masked_tokens = integer("workload.masked_tokens", usual, "default: the usual number for this length");
    if (settings.masked_tokens > settings.sequence_length) {
      const Value* written = document_.find("workload.masked_tokens");
      diagnostics_.error(
          written != nullptr ? written->place() : Place{"default", 0, 0}, "workload.masked_tokens",
          fmt::format("{} masked tokens in a sequence of {}", settings.masked_tokens, settings.sequence_length),
          "at most the sequence length");
      settings.masked_tokens = settings.sequence_length;  // for the checks that follow
    }
  } else {
    warn_without_effect("workload.masked_tokens", fmt::format("a \"{}\" head has no masked tokens", settings.head));
  }
  if (settings.mode != RunMode::generation) {
    for (const char* path : {"workload.batch_size", "workload.input_tokens", "workload.output_tokens"}) {
      warn_without_effect(path, "it belongs to mode \"generation\"");
    }
  }
}

// A request of batch_size sequences: input_tokens each, and output_tokens generated one by one, within one static
// length.
void SettingsReader::read_generation(std::int64_t longest, WorkloadSettings& settings) {
  const std::optional<std::int64_t> batch = read_integer(document_, "workload.batch_size");
  if (batch && *batch != settings.micro_batch_size) {
    warn_without_effect("workload.micro_batch_size", "in mode \"generation\" workload.batch_size decides");
  }
  settings.micro_batch_size = integer("workload.batch_size", settings.micro_batch_size, "as workload.micro_batch_size");
  for (ResolvedKey& key : resolved_) {
    if (key.path == "workload.micro_batch_size") key.toml_value = std::to_string(settings.micro_batch_size);
  }
  for (const char* path : {"workload.input_tokens", "workload.output_tokens"}) {
    if (document_.find(path) != nullptr) continue;
    diagnostics_.error(document_.find("workload.mode")->place(), path, "is missing in mode \"generation\"",
                       "how many tokens a request brings and how many it asks for");
  }
  settings.input_tokens = integer("workload.input_tokens", 1, "");
  settings.output_tokens = integer("workload.output_tokens", 1, "");
  const std::int64_t needed = settings.input_tokens + settings.output_tokens;
  settings.sequence_length =
      integer("workload.sequence_length", std::min(needed, longest), "default: input_tokens + output_tokens");
  if (needed <= std::min(settings.sequence_length, longest)) return;
  const Value* written = document_.find("workload.output_tokens");
  if (written == nullptr) written = document_.find("workload.mode");
  diagnostics_.error(written->place(), "workload.output_tokens",
                     fmt::format("{} tokens of input and {} of output do not fit into a length of {}",
                                 settings.input_tokens, settings.output_tokens, settings.sequence_length),
                     fmt::format("at most {} together", std::min(settings.sequence_length, longest)));
}

void SettingsReader::read_sequence(const ModelKind& kind, const ModelShape& shape, WorkloadSettings& settings) {
  const std::int64_t longest = kind.maximum_sequence_length(shape);
  const std::int64_t usual = kind.default_sequence_length(shape);
  settings.sequence_length =
      integer("workload.sequence_length", usual,
              usual == longest ? "default: the model's maximum" : "default: usual for the model type");
  if (settings.sequence_length > longest) {
    diagnostics_.error(document_.find("workload.sequence_length")->place(), "workload.sequence_length",
                       fmt::format("{} is more than the model's {} positions", settings.sequence_length, longest),
                       fmt::format("1 to {}, or a larger model.max_position_embeddings", longest));
    settings.sequence_length = longest;  // for the checks that follow
  }
  warn_without_effect("workload.image_size", "the model reads no images");
  warn_without_effect("workload.input_bytes_per_element", "the model reads no images");
}

void SettingsReader::read_image(const ModelKind& kind, const ModelShape& shape, const WorkloadDefaults& defaults,
                                WorkloadSettings& settings) {
  settings.image_size = integer("workload.image_size", defaults.image_size, "default: the model's");
  settings.input_bytes_per_element =
      number("workload.input_bytes_per_element", defaults.input_bytes_per_element, "default: the model's");
  settings.sequence_length = kind.image_tokens(shape, settings.image_size);
  if (settings.sequence_length == 0) {
    diagnostics_.error(
        document_.find("workload.image_size")->place(), "workload.image_size",
        fmt::format("images of {0} × {0} are too small for the patches or strides of the model", settings.image_size),
        fmt::format("at least {}", least_image_size(kind, shape)));
    settings.image_size = defaults.image_size;  // for the checks that follow
    settings.sequence_length = kind.image_tokens(shape, settings.image_size);
  }
  warn_without_effect("workload.sequence_length", "the model's tokens follow from workload.image_size");
  if (!kind.convolution_network()) return;
  for (const char* path : {"workload.split_qkv", "workload.attention_dropout", "workload.ffn_dropout"}) {
    warn_without_effect(path, "the model has no attention and no feed-forward layers");
  }
}

void SettingsReader::read_targets(WorkloadSettings& settings) {
  settings.target_samples = read_integer(document_, "workload.target_samples");
  settings.target_tokens = read_integer(document_, "workload.target_tokens");
  settings.dataset_samples = read_integer(document_, "workload.dataset_samples");
  settings.epochs = read_number(document_, "workload.epochs");
  for (const char* path : {"workload.target_samples", "workload.target_tokens", "workload.dataset_samples"}) {
    if (read_integer(document_, path)) integer(path, 0, "");
  }
  if (settings.epochs) number("workload.epochs", 0, "");
  const int targets = int{settings.target_samples.has_value()} + int{settings.target_tokens.has_value()} +
                      int{settings.dataset_samples.has_value() || settings.epochs.has_value()};
  if (targets > 1) {
    const char* second = settings.target_samples && settings.target_tokens ? "workload.target_tokens"
                         : settings.dataset_samples                        ? "workload.dataset_samples"
                                                                           : "workload.epochs";
    diagnostics_.error(document_.find(second)->place(), second, "a second target of the training",
                       "one of target_samples, target_tokens, or dataset_samples with epochs");
  } else if (settings.dataset_samples.has_value() != settings.epochs.has_value()) {
    const char* lone = settings.epochs ? "workload.epochs" : "workload.dataset_samples";
    const char* missing = settings.epochs ? "workload.dataset_samples" : "workload.epochs";
    diagnostics_.error(document_.find(lone)->place(), lone, fmt::format("stands without {}", missing),
                       "both or neither");
  }
}

void SettingsReader::warn_without_effect(const std::string& path, const std::string& reason) {
  const Value* written = document_.find(path);
  if (written != nullptr) diagnostics_.warning(written->place(), path, "has no effect: " + reason);
}

}  // namespace podsim
