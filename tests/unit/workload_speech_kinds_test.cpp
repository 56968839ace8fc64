#include <doctest/doctest.h>

#include "models/ipu/ipu_plan.hpp"
#include "models/workloads/convolution.hpp"
#include "models/workloads/wav2vec2.hpp"
#include "tests/support/model_shapes.hpp"
#include "tests/support/run_experiment.hpp"

using namespace podsim;
using namespace podsim::test;

namespace {

std::string on_four(const std::string& model, const std::string& head, const std::string& layers) {
  return "system = \"pod4\"\n[model]\nconfig = \"" + model + "\"\nhead = \"" + head +
         "\"\n[ipu]\nlayers_per_ipu = " + layers + "\ngradient_accumulation_steps = 16\n";
}

}  // namespace

// 94 371 712 is the published model; the heads are a linear layer over 32 letters, and the quantiser with its two
// projections.
TEST_CASE("wav2vec2 and hubert: the base models have the published parameters") {
  CHECK(parameters_of(Wav2Vec2(), "wav2vec2-base", "none") == 94'371'712);
  CHECK(parameters_of(Wav2Vec2(), "wav2vec2-base", "ctc") == 94'371'712 + 768 * 32 + 32);
  const std::int64_t quantiser = 512 * 640 + 640 + 640 * 128;
  CHECK(parameters_of(Wav2Vec2(), "wav2vec2-base", "speech-pretraining") ==
        94'371'712 + quantiser + 768 * 256 + 256 + 256 * 256 + 256);
  CHECK(parameters_of(Hubert(), "hubert-base", "none") == 94'371'712);
}

TEST_CASE("wav2vec2: 499 frames are ten seconds of audio at 16 kHz, to the convolution's last window") {
  const Wav2Vec2 speech;
  const ModelGraph graph = speech.build(shipped_shape(speech, "wav2vec2-base"), settings_for("none", 499));
  // Strides multiply to 320 values, and the receptive field of a frame is 400.
  CHECK(graph.host_input == Bytes(2 * (498 * 320 + 400)));
  CHECK(operator_named(graph.blocks[6].forward, "convolution_6").matmul == MatmulShape{1, 499, 2 * 512, 512});
  CHECK(operator_named(graph.blocks[5].forward, "convolution_5").matmul == MatmulShape{1, 998, 2 * 512, 512});
  CHECK(operator_named(graph.blocks[7].forward, "positional_convolution").matmul == MatmulShape{16, 499, 48 * 128, 48});
  CHECK(graph.notes.front() == k_convolution_note);
}

TEST_CASE("wav2vec2: convolutions, positions and projections count as layers") {
  const Wav2Vec2 speech;
  const ModelShape shape = shipped_shape(speech, "wav2vec2-base");
  const ModelGraph pretraining = speech.build(shape, settings_for("speech-pretraining", 64));
  CHECK(pretraining.layers == 7 + 1 + 12 + 3);
  CHECK(speech.build(shape, settings_for("ctc", 64)).layers == 7 + 1 + 12 + 1);
  CHECK(pretraining.layer_names == "7 convolutions, 1 positional block, 12 encoder layers, 3 projections");
  for (const Block& block : pretraining.blocks) CHECK(block.layer >= 0);
}

TEST_CASE("wav2vec2: the published layer lists are accepted, another sum is told with what counts") {
  const Plan pretraining = plan_of(on_four("wav2vec2-base", "speech-pretraining", "[6, 5, 5, 7]"));
  CHECK(pretraining.family->schedule_facts(pretraining).forward_stages == 4);
  const Plan ctc = plan_of(on_four("wav2vec2-base", "ctc", "[9, 4, 4, 4]"));
  CHECK(ctc.family->schedule_facts(ctc).forward_stages == 4);
  CHECK(ctc.warnings.all().size() >= 3);
  CHECK(problems_of(on_four("wav2vec2-base", "ctc", "[3, 3, 3, 3]"))
            .find("[3, 3, 3, 3] places 12 layers, but the model has 21 layers (7 convolutions, 1 positional block, "
                  "12 encoder layers, 1 projection)") != std::string::npos);
}

TEST_CASE("hubert: only encoder layers count, the convolutions stand on the first device") {
  const Plan plan = plan_of(on_four("hubert-base", "ctc", "[0, 4, 4, 4]"));
  CHECK(plan.graph.layers == 12);
  const auto& ipu_plan = dynamic_cast<const ipu::IpuPlan&>(*plan.family_plan);
  const std::vector<int> ipus = ipu::place_blocks(plan.graph, ipu_plan.setup.placement);
  CHECK(ipus.front() == 0);
  CHECK(ipus[1] == 1);
  CHECK(ipus.back() == 3);
  CHECK(plan.family->schedule_facts(plan).forward_stages == 4);
}

TEST_CASE("wav2vec2: a whole step runs, every block on its device") {
  const Ran ran = run_of(on_four("wav2vec2-base", "speech-pretraining", "[6, 5, 5, 7]"));
  CHECK(ran.step_s() > 0);
  CHECK(ran.plan.graph.backward_flop() > 1.9 * ran.plan.graph.forward_flop());
}

TEST_CASE("wav2vec2: lists of another length and bad elements are told at their place") {
  CHECK(problems_from(Wav2Vec2(), R"({"conv_dim": [512, 512]})") ==
        "config.json:1:14: conv_dim: has another length; expected a list of 7 integers\n");
  CHECK(problems_from(Wav2Vec2(), R"({"conv_stride": [5, 2, 2, 2, 2, 2, 0]})") ==
        "config.json:1:36: conv_stride: has a bad element; expected integers from 1 to 100000\n");
  CHECK(problems_from(Wav2Vec2(), R"({"conv_kernel": 3})") ==
        "config.json:1:17: conv_kernel: is an integer; expected a list of 7 integers\n");
  CHECK(problems_from(Wav2Vec2(), R"({"feat_extract_norm": 3})") ==
        "config.json:1:23: feat_extract_norm: is an integer; expected a string\n");
}
