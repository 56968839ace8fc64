#include "models/workloads/wav2vec2.hpp"

#include <algorithm>
#include <iterator>

#include "models/workloads/convolution.hpp"
#include "models/workloads/operators.hpp"
#include "models/workloads/shape_reader.hpp"

namespace podsim {

namespace {

constexpr int k_convolutions = 7;

std::string indexed(const std::string& name, int index) {
  return name + "." + std::to_string(index);
}

// Values that convolution `index` reads of a sample so that the last one writes `frames`.
std::int64_t input_length(const ModelShape& shape, int index, std::int64_t frames) {
  std::int64_t length = frames;
  for (int i = k_convolutions - 1; i >= index; --i) {
    length = (length - 1) * shape[indexed("conv_stride", i)] + shape[indexed("conv_kernel", i)];
  }
  return length;
}

TransformerShape encoder_of(const ModelShape& shape) {
  TransformerShape encoder;
  encoder.name = shape.name;
  encoder.layers = shape["num_hidden_layers"];
  encoder.hidden = shape["hidden_size"];
  encoder.heads = shape["num_attention_heads"];
  encoder.feed_forward = shape["intermediate_size"];
  return encoder;
}

std::vector<Block> convolution_blocks(const ModelShape& shape, const TransformerBatch& batch) {
  std::vector<Block> blocks;
  for (int i = 0; i < k_convolutions; ++i) {
    Convolution convolution;
    convolution.name = "convolution_" + std::to_string(i);
    convolution.frames = input_length(shape, i + 1, batch.sequence);
    convolution.in_channels = i == 0 ? 1 : shape[indexed("conv_dim", i - 1)];
    convolution.out_channels = shape[indexed("conv_dim", i)];
    convolution.kernel = shape[indexed("conv_kernel", i)];
    convolution.bias = shape["conv_bias"] == 1;
    convolution.norm = i == 0 || shape["layer_norm_everywhere"] == 1;
    convolution.input_gradient = i > 0;
    Block block;
    block.kind = BlockKind::whole_layer;
    block.name = "convolution " + std::to_string(i);
    add_convolution(convolution, batch, block);
    block.output = convolution_output(convolution, batch);
    blocks.push_back(std::move(block));
  }
  return blocks;
}

// Projection to the encoder's width, the embedding of masked spans, and the grouped convolution that knows positions;
// its weight is stored as direction and length.
Block positional_block(const ModelShape& shape, const TransformerShape& encoder, const TransformerBatch& batch) {
  const std::int64_t channels = shape[indexed("conv_dim", k_convolutions - 1)];
  const std::int64_t kernel = shape["num_conv_pos_embeddings"];
  const std::int64_t h = encoder.hidden;
  const std::int64_t th = batch.tokens * h;
  Block block;
  block.kind = BlockKind::whole_layer;
  block.name = "projection and positions";
  block.parameters = {{"feature_norm.weight", channels}, {"feature_norm.bias", channels}};
  add_linear(block.parameters, "feature_projection", channels, h);
  block.parameters.push_back({"masked_embedding", h});
  block.forward = {elementwise_operator("feature_norm", batch.tokens * channels, 5, 4),
                   matmul_operator("feature_projection", {1, batch.tokens, channels, h}),
                   elementwise_operator("feature_bias_and_dropout", th, 2, 2)};
  if (batch.training) {
    block.backward = {elementwise_operator("feature_bias_and_dropout_gradient", th, 2, 2),
                      matmul_operator("feature_input_gradient", {1, batch.tokens, h, channels}),
                      matmul_operator("feature_weight_gradient", {1, channels, batch.tokens, h}),
                      elementwise_operator("feature_norm_gradient", batch.tokens * channels, 8, 6)};
  }
  add_convolution({.name = "positional_convolution",
                   .frames = batch.sequence,
                   .in_channels = h,
                   .out_channels = h,
                   .kernel = kernel,
                   .groups = shape["num_conv_pos_embedding_groups"]},
                  batch, block);
  block.parameters.push_back({"positional_convolution.length", kernel});
  for (ParameterTensor& tensor : norm_parameters(encoder, "norm")) block.parameters.push_back(std::move(tensor));
  block.forward.push_back(elementwise_operator("position_sum", th, 1, 1));
  block.forward.push_back(norm_forward(encoder, th));
  if (batch.training) block.backward.insert(block.backward.begin(), norm_backward(encoder, th));
  block.output = hidden_bytes(encoder, batch, batch.tokens);
  return block;
}

// A linear layer over `rows` rows as a block of its own.
Block projection_block(const std::string& name, std::int64_t rows, std::int64_t in, std::int64_t out,
                       const TransformerBatch& batch) {
  Block block;
  block.kind = BlockKind::whole_layer;
  block.name = name;
  add_linear(block.parameters, name, in, out);
  block.forward = {matmul_operator(name, {1, rows, in, out}), elementwise_operator(name + "_bias", rows * out, 1, 1)};
  if (batch.training) {
    block.backward = {elementwise_operator(name + "_bias_gradient", rows * out, 1, 2),
                      matmul_operator(name + "_input_gradient", {1, rows, out, in}),
                      matmul_operator(name + "_weight_gradient", {1, in, rows, out}),
                      elementwise_operator(name + "_weight_accumulate", in * out, 1, 1)};
  }
  block.live_forward = Bytes(2 * rows * (in + out) * batch.element_bytes);
  block.output = Bytes(rows * out * batch.element_bytes);
  return block;
}

// Blocks behind the encoder: what a head adds, each placed like a layer.
std::vector<Block> head_parts(const ModelShape& shape, const std::string& head, const TransformerBatch& batch) {
  const std::int64_t h = shape["hidden_size"];
  const std::int64_t t = batch.tokens;
  if (head == "ctc") return {projection_block("classifier", t, h, shape["vocab_size"], batch)};
  if (head == "speech-classification") {
    const std::int64_t width = shape["classifier_proj_size"];
    Block block = projection_block("projector", t, h, width, batch);
    add_linear(block.parameters, "classifier", width, shape["num_labels"]);
    return {std::move(block)};
  }
  if (head != "speech-pretraining") return {};
  const std::int64_t channels = shape[indexed("conv_dim", k_convolutions - 1)];
  const std::int64_t groups = shape["num_codevector_groups"];
  const std::int64_t codes = groups * shape["num_codevectors_per_group"];
  const std::int64_t wide = shape["codevector_dim"];
  const std::int64_t projected = shape["proj_codevector_dim"];
  Block quantiser = projection_block("quantiser", t, channels, codes, batch);
  quantiser.parameters.push_back({"codevectors", codes * (wide / groups)});
  quantiser.forward.push_back(elementwise_operator("code_softmax", t * codes, 5, 4));
  if (batch.training) {
    quantiser.backward.insert(quantiser.backward.begin(),
                              elementwise_operator("code_softmax_gradient", t * codes, 4, 3));
  }
  return {projection_block("hidden_projection", t, h, projected, batch), std::move(quantiser),
          projection_block("code_projection", t, wide, projected, batch)};
}

// The same operators and parameters as one block outside the layers.
Block joined(const std::vector<Block>& parts, BlockKind kind, const std::string& name) {
  Block block;
  block.kind = kind;
  block.name = name;
  for (const Block& part : parts) {
    block.forward.insert(block.forward.end(), part.forward.begin(), part.forward.end());
    block.backward.insert(block.backward.begin(), part.backward.begin(), part.backward.end());
    block.parameters.insert(block.parameters.end(), part.parameters.begin(), part.parameters.end());
    block.live_forward = std::max(block.live_forward, part.live_forward);
    block.output = part.output;
  }
  return block;
}

// Numbers the blocks as layers: those in front, the encoder's halves, those behind.
void number_layers(ModelGraph& graph, std::vector<Block> front, std::vector<Block> encoder, std::vector<Block> back) {
  int layer = 0;
  const int before = static_cast<int>(front.size());
  for (Block& block : front) {
    block.layer = layer++;
    graph.blocks.push_back(std::move(block));
  }
  for (Block& block : encoder) {
    block.layer += before;
    layer = block.layer + 1;
    graph.blocks.push_back(std::move(block));
  }
  for (Block& block : back) {
    block.layer = layer++;
    graph.blocks.push_back(std::move(block));
  }
  graph.layers = layer;
}

void read_audio_fields(ShapeReader& reader) {
  reader.read_list("conv_dim", {512, 512, 512, 512, 512, 512, 512});
  reader.read_list("conv_kernel", {10, 3, 3, 3, 3, 2, 2});
  reader.read_list("conv_stride", {5, 2, 2, 2, 2, 2, 2});
  reader.read_flag("conv_bias", false);
  reader.read({"num_conv_pos_embeddings", {"num_conv_pos_embeddings"}, 128});
  reader.read({"num_conv_pos_embedding_groups", {"num_conv_pos_embedding_groups"}, 16});
  reader.read({"num_codevectors_per_group", {"num_codevectors_per_group"}, 320});
  reader.read({"num_codevector_groups", {"num_codevector_groups"}, 2});
  reader.read({"codevector_dim", {"codevector_dim"}, 256});
  reader.read({"proj_codevector_dim", {"proj_codevector_dim"}, 256});
  reader.read({"classifier_proj_size", {"classifier_proj_size"}, 256});
  reader.check_divides("num_conv_pos_embedding_groups", "hidden_size");
  reader.check_divides("num_codevector_groups", "codevector_dim");
}

}  // namespace

std::vector<std::pair<std::string, std::string>> Wav2Vec2::architectures() const {
  std::vector<std::pair<std::string, std::string>> names = {
      {family_ + "ForCTC", "ctc"},
      {family_ + "ForSequenceClassification", "speech-classification"},
      {family_ + "Model", "none"}};
  if (placement_ == SpeechPlacement::in_layers) names.emplace_back(family_ + "ForPreTraining", "speech-pretraining");
  return with_pipelined_names(names);
}

std::vector<std::string> Wav2Vec2::heads() const {
  return {"speech-pretraining", "ctc", "speech-classification", "none"};
}

std::vector<std::string> Hubert::heads() const {
  return {"ctc", "speech-classification", "none"};
}

std::optional<ModelShape> Wav2Vec2::read(const Value& config, const Value& overrides, Diagnostics& diagnostics) const {
  ShapeReader reader(type_, config, overrides, diagnostics);
  if (!reader.good()) return std::nullopt;
  const std::int64_t hidden = reader.read({"hidden_size", {"hidden_size"}, 768});
  const std::int64_t layers = reader.read({"num_hidden_layers", {"num_hidden_layers"}, 12, 1, k_maximum_layers});
  reader.read({"num_attention_heads", {"num_attention_heads"}, 12, 1, k_maximum_heads});
  reader.read({"intermediate_size", {"intermediate_size"}, 3072});
  reader.read({"vocab_size", {"vocab_size"}, 32});
  read_audio_fields(reader);
  reader.read_choice("layer_norm_everywhere", "feat_extract_norm", {"group", "layer"}, 0);
  reader.read_labels();
  reader.check_divides("num_attention_heads", "hidden_size");
  if (!reader.good()) return std::nullopt;
  ModelShape shape = reader.take();
  shape.name = family_ + ", " + std::to_string(layers) + " layers, hidden " + std::to_string(hidden);
  return shape;
}

std::int64_t Wav2Vec2::maximum_sequence_length(const ModelShape&) const {
  return k_maximum_positions;
}

WorkloadDefaults Wav2Vec2::workload_defaults(const ModelShape&) const {
  WorkloadDefaults defaults;
  defaults.ffn_dropout = true;
  return defaults;
}

ModelGraph Wav2Vec2::build(const ModelShape& shape, const WorkloadSettings& settings) const {
  check_head(*this, settings.head);
  const TransformerShape encoder = encoder_of(shape);
  const TransformerBatch batch = transformer_batch(encoder, settings);
  ModelGraph graph = build_transformer(encoder, batch, {});
  std::vector<Block> layers(std::make_move_iterator(graph.blocks.begin() + 1),
                            std::make_move_iterator(graph.blocks.end()));
  graph.blocks.clear();
  std::vector<Block> front = convolution_blocks(shape, batch);
  front.push_back(positional_block(shape, encoder, batch));
  std::vector<Block> back = head_parts(shape, settings.head, batch);
  if (placement_ == SpeechPlacement::in_layers) {
    graph.layer_names = std::to_string(k_convolutions) + " convolutions, 1 positional block, " +
                        std::to_string(encoder.layers) + " encoder layers, " + std::to_string(back.size()) +
                        (back.size() == 1 ? " projection" : " projections");
    number_layers(graph, std::move(front), std::move(layers), std::move(back));
  } else {
    const Block first = joined(front, BlockKind::embedding, "feature extractor");
    graph.blocks.push_back(first);
    number_layers(graph, {}, std::move(layers), {});
    if (!back.empty()) graph.blocks.push_back(joined(back, BlockKind::head, "classifier"));
  }
  constexpr std::int64_t k_sample_bytes = 2;  // half precision
  graph.host_input = Bytes(k_sample_bytes * batch.samples * input_length(shape, 0, batch.sequence));
  graph.notes = {k_convolution_note,
                 "sequence_length counts the encoder's frames; copies between convolutions on different devices are "
                 "counted as those between encoder layers",
                 "no published run of a speech model was compared"};
  return graph;
}

}  // namespace podsim
