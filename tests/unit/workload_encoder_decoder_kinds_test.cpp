#include <doctest/doctest.h>

#include "models/ipu/ipu_plan.hpp"
#include "models/workloads/bart.hpp"
#include "models/workloads/bert.hpp"
#include "models/workloads/convolution.hpp"
#include "models/workloads/encoder_decoder.hpp"
#include "models/workloads/t5.hpp"
#include "models/workloads/whisper.hpp"
#include "tests/support/model_shapes.hpp"
#include "tests/support/run_experiment.hpp"

using namespace podsim;
using namespace podsim::test;

namespace {

std::string on_pod(const std::string& model, const std::string& layers, int accumulation = 32) {
  return "system = \"pod16\"\n[model]\nconfig = \"" + model + "\"\n[workload]\nsequence_length = 64\n[ipu]\n" +
         "layers_per_ipu = " + layers + "\ngradient_accumulation_steps = " + std::to_string(accumulation) + "\n";
}

}  // namespace

TEST_CASE("t5 and mt5: the published sizes have the published parameters") {
  CHECK(parameters_of(T5(), "t5-small", "seq2seq") == 60'506'624);
  CHECK(parameters_of(MT5(), "mt5-small", "seq2seq") == 300'176'768);
  CHECK(parameters_of(T5(), "t5-small", "none") == 60'506'624);
}

TEST_CASE("bart and whisper: the published sizes have the published parameters") {
  CHECK(parameters_of(Bart(), "bart-base", "seq2seq") == 139'420'416);
  CHECK(parameters_of(Whisper(), "whisper-tiny", "seq2seq") == 37'760'640);
  CHECK(parameters_of(Whisper(), "whisper-small", "seq2seq") == 241'734'912);
}

TEST_CASE("t5: published layer lists count encoder and decoder together") {
  const Plan small = plan_of(on_pod("t5-small", "[0, 4, 4, 4]"));
  CHECK(small.graph.layers == 12);
  CHECK(small.family->schedule_facts(small).forward_stages == 5);
  CHECK(small.family->schedule_facts(small).stages == 9);
  const Plan large = plan_of(on_pod("mt5-small", "[0, 8, 8, 0]"));
  CHECK(large.graph.layers == 16);
  CHECK(large.family->schedule_facts(large).forward_stages == 4);
  CHECK(problems_of(on_pod("t5-small", "[0, 2, 2, 2]"))
            .find("[0, 2, 2, 2] places 6 layers, but the model has 12 layers (6 encoder and 6 decoder layers)") !=
        std::string::npos);
}

TEST_CASE("t5: the head returns to the device of the shared embedding") {
  const Plan plan = plan_of(on_pod("t5-small", "[0, 4, 4, 4]"));
  const auto& ipu_plan = dynamic_cast<const ipu::IpuPlan&>(*plan.family_plan);
  const std::vector<int> ipus = ipu::place_blocks(plan.graph, ipu_plan.setup.placement);
  CHECK(ipus.front() == 0);
  CHECK(ipus[1] == 1);
  CHECK(ipus.back() == 0);
}

TEST_CASE("mt5: a projection with a table of its own stands on the last device") {
  const Plan plan = plan_of(on_pod("mt5-small", "[0, 8, 8, 0]"));
  const auto& ipu_plan = dynamic_cast<const ipu::IpuPlan&>(*plan.family_plan);
  const std::vector<int> ipus = ipu::place_blocks(plan.graph, ipu_plan.setup.placement);
  CHECK(ipus.front() == 0);
  CHECK(ipus.back() == 3);
}

TEST_CASE("encoder-decoder: the layers of the encoder are counted, and none where there is one stack") {
  CHECK(encoder_layers(plan_of(on_pod("mt5-small", "[0, 8, 8, 0]")).graph) == 8);
  CHECK(encoder_layers(plan_of(on_pod("t5-small", "[0, 4, 4, 4]")).graph) == 6);
  const Bert bert;
  CHECK(encoder_layers(bert.build(shipped_shape(bert, "bert-base-uncased"), settings_for("pretraining", 128))) == 0);
}

TEST_CASE("encoder-decoder: a decoder layer attends to itself and to the source") {
  const Whisper whisper;
  WorkloadSettings settings = settings_for("seq2seq", 32);
  settings.micro_batch_size = 2;
  const ModelGraph graph = whisper.build(shipped_shape(whisper, "whisper-tiny"), settings);
  REQUIRE(graph.layers == 8);
  const Block& encoder = graph.blocks[1];
  CHECK(graph.blocks[9].name == "text embedding");
  const Block& decoder = graph.blocks[10];
  CHECK(encoder.name == "encoder layer 0 attention");
  CHECK(decoder.name == "decoder layer 4 attention");
  CHECK(!has_operator(encoder.forward, "cross_query_key_scores"));
  CHECK(operator_named(encoder.forward, "query_key_scores").matmul == MatmulShape{12, 1500, 64, 1500});
  CHECK(operator_named(decoder.forward, "query_key_scores").matmul == MatmulShape{12, 32, 64, 32});
  CHECK(operator_named(decoder.forward, "cross_query_key_scores").matmul == MatmulShape{12, 32, 64, 1500});
  CHECK(operator_named(decoder.forward, "cross_key_value_projection").matmul == MatmulShape{1, 3000, 384, 768});
  CHECK(operator_named(decoder.backward, "cross_key_gradient").matmul == MatmulShape{12, 1500, 32, 64});
  CHECK(graph.boundary == Bytes(2 * 2 * (1500 + 32) * 384));
}

TEST_CASE("whisper: convolutions over mel frames stand first and are said to be approximate") {
  const Whisper whisper;
  const ModelGraph graph = whisper.build(shipped_shape(whisper, "whisper-tiny"), settings_for("seq2seq", 448));
  const Block& first = graph.blocks.front();
  CHECK(operator_named(first.forward, "audio_convolution_1").matmul == MatmulShape{1, 3000, 240, 384});
  CHECK(operator_named(first.forward, "audio_convolution_2").matmul == MatmulShape{1, 1500, 3 * 384, 384});
  CHECK(graph.host_input == Bytes(12 * 448 + 2 * 3000 * 80));
  CHECK(graph.notes.front() == k_convolution_note);
}

TEST_CASE("whisper: the published layer list of the small model is accepted") {
  const Plan plan = plan_of(on_pod("whisper-small", "[1, 2, 3, 3, 3, 0, 6, 6]"));
  CHECK(plan.graph.layers == 24);
  // The empty device is skipped; the head returns to where the decoder begins.
  CHECK(plan.family->schedule_facts(plan).forward_stages == 8);
}

TEST_CASE("whisper: the decoder's embedding and its projection share a table and a device") {
  struct Expected {
    std::string more;
    int embedding;
    std::int64_t forward_stages;
  };
  const std::vector<Expected> table{
      {"", 6, 8},  // 0, 1, 2, 3, 4, 6, 7 and 6 again
      {"serialized_projection_splits_per_ipu = [0, 0, 0, 0, 0, 5, 0, 0]\n", 5, 9},
      {"serialized_projection_splits_per_ipu = [0, 0, 0, 0, 0, 0, 0, 5]\n", 7, 8},  // 4, 7, 6, 7: the head stays there
  };
  for (const Expected& expected : table) {
    CAPTURE(expected.more);
    const Plan plan = plan_of(on_pod("whisper-small", "[1, 2, 3, 3, 3, 0, 6, 6]") + expected.more);
    const auto& setup = dynamic_cast<const ipu::IpuPlan&>(*plan.family_plan).setup;
    const std::vector<int> ipus = ipu::place_blocks(plan.graph, setup.placement);
    CHECK(ipus.front() == 0);
    CHECK(ipus[1 + 2 * 12] == expected.embedding);
    CHECK(ipus.back() == expected.embedding);
    CHECK(plan.family->schedule_facts(plan).forward_stages == expected.forward_stages);
    const auto& constants = dynamic_cast<const ipu::IpuPlan&>(*plan.family_plan).constants;
    const std::vector<ipu::PlacedParameters> parameters = ipu::place_parameters(plan.graph, setup, constants);
    CHECK(parameters[static_cast<std::size_t>(expected.embedding)].elements > 51865 * 768);
    CHECK(parameters[0].elements < 51865 * 768);
  }
  const std::string short_of_one = "\nserialized_projection_splits_per_ipu = [0, 0, 0, 0, 0, 5, 0, 0]\n";
  CHECK(problems_of(on_pod("whisper-small", "[1, 2, 3, 3, 3, 0, 6, 6]", 16) + short_of_one)
            .find("gradient_accumulation_steps is 16, but this pipeline has 9 forward and 17 training stages; expected "
                  "at least 17 (the head returns to IPU 5 and makes the 9th forward stage)") != std::string::npos);
}

TEST_CASE("bart: a classifier stands on the last device, the language model returns") {
  const Bart bart;
  const ModelShape shape = shipped_shape(bart, "bart-base");
  CHECK(bart.build(shape, settings_for("seq2seq", 32)).head_placement == HeadPlacement::first_device);
  CHECK(bart.build(shape, settings_for("sequence-classification", 32)).head_placement == HeadPlacement::last_device);
  CHECK(bart.maximum_sequence_length(shape) == 1024);
}

TEST_CASE("encoder-decoder: notes of what is not calibrated are warnings of the plan") {
  const Plan plan = plan_of(on_pod("bart-base", "[0, 4, 4, 4]"));
  bool said = false;
  for (const Diagnostic& warning : plan.warnings.all()) {
    said = said || warning.problem == "no published run of a model with cross-attention was compared";
  }
  CHECK(said);
  CHECK(run_of(on_pod("bart-base", "[0, 4, 4, 4]")).step_s() > 0);
}

TEST_CASE("t5: gating follows from the name of the projection, the decoder's depth from the encoder's") {
  const T5 t5;
  CHECK(shape_from(t5, R"({"feed_forward_proj": "gated-gelu"})")["gated"] == 1);
  CHECK(shape_from(t5, "{}")["gated"] == 0);
  CHECK(shape_from(MT5(), "{}")["gated"] == 1);
  CHECK(shape_from(MT5(), R"({"feed_forward_proj": "gelu_new"})")["gated"] == 0);
  CHECK(shape_from(t5, R"({"num_layers": 4})")["num_decoder_layers"] == 4);
  CHECK(shape_from(t5, R"({"num_layers": 4, "num_decoder_layers": 2})")["num_decoder_layers"] == 2);
  CHECK(t5.default_sequence_length(shape_from(t5, "{}")) == 512);
  CHECK(problems_from(t5, R"({"feed_forward_proj": "x"})") ==
        "config.json:1:23: feed_forward_proj: is \"x\"; expected one of relu, gelu, gelu_new, gelu_fast, quick_gelu, "
        "silu, swish, tanh, sigmoid, mish, gated-relu, gated-gelu, gated-gelu_new, gated-gelu_fast, gated-quick_gelu, "
        "gated-silu, gated-swish, gated-tanh, gated-sigmoid, gated-mish\n");
}
