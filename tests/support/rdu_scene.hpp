#pragma once
// Models by their dimensions, and the shipped constants of an RDU system.

#include <doctest/doctest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/rdu/section_rates.hpp"
#include "models/rdu/transformer_graph.hpp"
#include "sim/config/config_files.hpp"
#include "tests/support/rdu_closed_forms.hpp"

namespace podsim::test {

inline Value shipped_toml(const std::string& path) {
  const ConfigFiles files = ConfigFiles::embedded();
  Diagnostics diagnostics;
  const std::optional<std::string> text = files.text(path);
  REQUIRE_MESSAGE(text.has_value(), path);
  const std::optional<Value> document = parse_toml(*text, files.display_name(path), diagnostics);
  INFO(diagnostics.to_text());
  REQUIRE(document.has_value());
  return *document;
}

// All constants a run on the system reads.
inline ConstantSet rdu_constant_set(const std::string& system) {
  ConstantSet set;
  Diagnostics diagnostics;
  const std::vector<std::string> skip = {"name", "family", "chip", "software", "prefix"};
  const Value machine = shipped_toml("systems/" + system + ".toml");
  set.add(shipped_toml("chips/" + machine.find("chip")->as_string() + ".toml"), "chip", skip, diagnostics);
  set.add(machine, "system", skip, diagnostics);
  set.add(shipped_toml("software/" + machine.find("software")->as_string() + ".toml"), "software", skip, diagnostics);
  for (const char* name : {"rdu-compile", "rdu-host", "rdu-precision", "rdu-sections", "rdu-serving", "rdu-system"}) {
    const Value document = shipped_toml("constants/" + std::string(name) + ".toml");
    set.add(document, document.find("prefix")->as_string(), skip, diagnostics);
  }
  INFO(diagnostics.to_text());
  REQUIRE(!diagnostics.has_errors());
  return set;
}

inline rdu::RduConstants rdu_constants(const std::string& system) {
  const ConstantSet set = rdu_constant_set(system);
  ConstantReader reader(set);
  return rdu::read_rdu_constants(reader);
}

inline rdu::TransformerDescription gpt2_of(std::int64_t hidden, std::int64_t layers, std::int64_t heads) {
  rdu::TransformerDescription model;
  model.name = "GPT-2";
  model.layers = layers;
  model.hidden = hidden;
  model.heads = heads;
  model.kv_heads = heads;
  model.head_dim = hidden / heads;
  model.ffn = 4 * hidden;
  model.vocabulary = 50257;
  model.positions = 1024;
  return model;
}

struct GatedDecoder {
  std::int64_t hidden;
  std::int64_t layers;
  std::int64_t heads;
  std::int64_t kv_heads;
  std::int64_t ffn;
  std::int64_t vocabulary;
};

inline constexpr GatedDecoder k_llama_2_7b = {4096, 32, 32, 32, 11008, 32000};
inline constexpr GatedDecoder k_llama_3_8b = {4096, 32, 32, 8, 14336, 128256};
inline constexpr GatedDecoder k_llama_3_70b = {8192, 80, 64, 8, 28672, 128256};

inline rdu::TransformerDescription gated_decoder(const GatedDecoder& shape) {
  rdu::TransformerDescription model;
  model.name = "gated decoder";
  model.layers = shape.layers;
  model.hidden = shape.hidden;
  model.heads = shape.heads;
  model.kv_heads = shape.kv_heads;
  model.head_dim = shape.hidden / shape.heads;
  model.ffn = shape.ffn;
  model.gated = true;
  model.vocabulary = shape.vocabulary;
  model.positions = 8192;
  model.norm = rdu::RduNorm::root_mean_square;
  model.norm_bias = false;
  model.rotary = true;
  model.dropout = false;
  model.attention_bias = false;
  model.ffn_bias = false;
  model.tied_embedding = false;
  return model;
}

inline rdu::StepRequest training_step(std::int64_t batch, std::int64_t sequence) {
  rdu::StepRequest request;
  request.batch = batch;
  request.sequence = sequence;
  return request;
}

// A model on half an SN30, four tiles.
struct HalfSn30 {
  rdu::RduConstants constants = rdu_constants("sn30");
  rdu::Allotment tiles = rdu::allot(constants.chip, 4);
  rdu::SectionCapacity capacity = rdu::section_capacity(constants.section, tiles);
  rdu::SectionRates rates = rdu::section_rates(constants.section, tiles, false);

  rdu::Partition partition(const rdu::OperatorGraph& graph, rdu::OptimizationLevel level) const {
    rdu::PartitionOptions options;
    options.level = level;
    return rdu::make_partition(graph, options, capacity);
  }

  DeviceTime time(const rdu::OperatorGraph& graph, rdu::OptimizationLevel level) const {
    const rdu::Partition cut = partition(graph, level);
    return device_time(cut, rdu::section_work(graph, cut), rates);
  }
};

}  // namespace podsim::test
