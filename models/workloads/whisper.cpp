#include "models/workloads/whisper.hpp"

#include "models/workloads/convolution.hpp"
#include "models/workloads/encoder_decoder.hpp"
#include "models/workloads/shape_reader.hpp"

namespace podsim {

namespace {

constexpr std::int64_t k_frames_per_position = 2;  // stride of the second convolution
constexpr std::int64_t k_kernel = 3;

TransformerShape half_of(const ModelShape& shape, const std::string& side) {
  TransformerShape half = side_shape(shape, side);
  half.key_bias = false;
  return half;
}

// The text's embedding, whose table the projection shares.
Block text_block(const ModelShape& shape, const EncoderDecoder& model, const TransformerBatch& decoder) {
  TransformerShape text = model.decoder;
  text.positions = shape["max_target_positions"];
  Block block = embedding_block(text, decoder);
  block.name = "text embedding";
  return block;
}

// The convolutions over the audio.
Block audio_block(const ModelShape& shape, const EncoderDecoder& model, const TransformerBatch& encoder) {
  const std::int64_t h = model.encoder.hidden;
  const std::int64_t source = shape["max_source_positions"];
  Block block;
  block.kind = BlockKind::embedding;
  block.name = "audio";
  block.output = hidden_bytes(model.encoder, encoder, encoder.tokens);
  block.parameters.push_back({"audio_position.weight", source * h});
  add_convolution({.name = "audio_convolution_1",
                   .frames = k_frames_per_position * source,
                   .in_channels = shape["num_mel_bins"],
                   .out_channels = h,
                   .kernel = k_kernel,
                   .input_gradient = false},
                  encoder, block);
  add_convolution(
      {.name = "audio_convolution_2", .frames = source, .in_channels = h, .out_channels = h, .kernel = k_kernel},
      encoder, block);
  return block;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> Whisper::architectures() const {
  return with_pipelined_names({{"WhisperForConditionalGeneration", "seq2seq"}, {"WhisperModel", "none"}});
}

std::vector<std::string> Whisper::heads() const {
  return {"seq2seq", "none"};
}

std::optional<ModelShape> Whisper::read(const Value& config, const Value& overrides, Diagnostics& diagnostics) const {
  ShapeReader reader("whisper", config, overrides, diagnostics);
  if (!reader.good()) return std::nullopt;
  read_sides(reader, {.hidden = 384, .layers = 4, .heads = 6, .feed_forward = 1536});
  reader.read({"vocab_size", {"vocab_size"}, 51865});
  reader.read({"num_mel_bins", {"num_mel_bins"}, 80});
  reader.read({"max_source_positions", {"max_source_positions"}, 1500, 1, k_maximum_positions});
  reader.read({"max_target_positions", {"max_target_positions"}, 448, 1, k_maximum_positions});
  if (!reader.good()) return std::nullopt;
  ModelShape shape = reader.take();
  shape.name = "Whisper, " + sides_name(shape);
  return shape;
}

std::int64_t Whisper::maximum_sequence_length(const ModelShape& shape) const {
  return shape["max_target_positions"];
}

ModelGraph Whisper::build(const ModelShape& shape, const WorkloadSettings& settings) const {
  check_head(*this, settings.head);
  EncoderDecoder model;
  model.encoder = half_of(shape, "encoder");
  model.decoder = half_of(shape, "decoder");
  model.source = shape["max_source_positions"];
  model.target = settings.sequence_length;
  const std::int64_t h = model.decoder.hidden;
  const auto [encoder, decoder] = encoder_decoder_batches(model, settings);
  TransformerHead head;
  head.parameters = norm_parameters(model.encoder, "encoder_final_norm");
  for (ParameterTensor& tensor : norm_parameters(model.decoder, "final_norm"))
    head.parameters.push_back(std::move(tensor));
  if (settings.head == "seq2seq") {
    head.placement = HeadPlacement::first_device;
    head.vocabulary_rows = decoder.tokens;
    head.parameters.push_back({"decoder.weight", model.decoder.vocabulary * h, true});
  }
  ModelGraph graph = build_encoder_decoder(model, settings, audio_block(shape, model, encoder), std::move(head),
                                           text_block(shape, model, decoder));
  constexpr std::int64_t k_host_bytes_per_token = 12;
  constexpr std::int64_t k_frame_bytes = 2;  // half precision
  const std::int64_t mel = encoder.samples * k_frames_per_position * model.source * shape["num_mel_bins"];
  graph.host_input = Bytes(k_host_bytes_per_token * decoder.tokens + k_frame_bytes * mel);
  graph.notes = {k_convolution_note, "no published run of a model with cross-attention was compared"};
  return graph;
}

}  // namespace podsim
