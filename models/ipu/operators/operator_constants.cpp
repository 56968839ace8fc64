#include "models/ipu/operators/operator_constants.hpp"

#include <string>

namespace podsim::ipu {

namespace {

constexpr const char* k_prefix = "cost.operators.";

SurroundingConstants read_surrounding(ConstantReader& reader, const std::string& name) {
  const std::string prefix = k_prefix + name + ".";
  SurroundingConstants surrounding;
  surrounding.factor = reader.number(prefix + "factor");
  surrounding.launch = reader.cycle_count(prefix + "launch");
  surrounding.input_element = reader.cycle_count(prefix + "input_element");
  surrounding.output_element = reader.cycle_count(prefix + "output_element");
  surrounding.weight_element = reader.cycle_count(prefix + "weight_element");
  return surrounding;
}

OctaveConstants read_octave(ConstantReader& reader) {
  return {reader.number("cost.operators.octave.factor"), reader.cycle_count("cost.operators.octave.launch")};
}

EmbeddingConstants read_embedding(ConstantReader& reader) {
  EmbeddingConstants embedding;
  embedding.launch = reader.cycle_count("cost.operators.embedding.launch");
  embedding.lookup = reader.cycle_count("cost.operators.embedding.lookup");
  embedding.gather_share = reader.number("cost.operators.embedding.gather_share");
  embedding.copied_table = reader.data("cost.operators.embedding.copied_table");
  embedding.row_part = reader.data("cost.operators.embedding.row_part");
  return embedding;
}

ReductionConstants read_reduction(ConstantReader& reader) {
  ReductionConstants reduction;
  reduction.one_stage = reader.cycle_count("cost.operators.reduction.one_stage");
  reduction.two_stages = reader.cycle_count("cost.operators.reduction.two_stages");
  reduction.element = reader.cycle_count("cost.operators.reduction.element");
  reduction.largest_element = reader.cycle_count("cost.operators.reduction.largest_element");
  return reduction;
}

PoolingDirection read_direction(ConstantReader& reader, const std::string& name) {
  const std::string prefix = "cost.operators.pooling." + name + ".";
  return {reader.number(prefix + "start"), reader.number(prefix + "next_group"), reader.number(prefix + "word"),
          reader.number(prefix + "element")};
}

PoolingConstants read_pooling(ConstantReader& reader) {
  PoolingConstants pooling;
  pooling.launch = reader.cycle_count("cost.operators.pooling.launch");
  pooling.supervisor = reader.cycle_count("cost.operators.pooling.supervisor");
  pooling.group = reader.number("cost.operators.pooling.group");
  pooling.row = reader.number("cost.operators.pooling.row");
  pooling.position = reader.number("cost.operators.pooling.position");
  pooling.position_group = reader.number("cost.operators.pooling.position_group");
  pooling.forward = read_direction(reader, "forward");
  pooling.gradient = read_direction(reader, "gradient");
  return pooling;
}

RecurrentConstants read_recurrent(ConstantReader& reader, const std::string& name) {
  return {reader.count(k_prefix + name + ".forward_operations"),
          reader.count(k_prefix + name + ".training_operations")};
}

NormConstants read_norm(ConstantReader& reader) {
  return {reader.cycle_count("cost.operators.norm.launch"), reader.cycle_count("cost.operators.norm.output_element")};
}

ElementwiseConstants read_elementwise(ConstantReader& reader) {
  ElementwiseConstants elementwise;
  elementwise.launch = reader.cycle_count("cost.operators.elementwise.launch");
  elementwise.half_per_cycle = reader.number("cost.operators.elementwise.half_per_cycle");
  elementwise.single_per_cycle = reader.number("cost.operators.elementwise.single_per_cycle");
  return elementwise;
}

ByteConstants read_bytes(ConstantReader& reader, const std::string& name) {
  const std::string prefix = k_prefix + name + ".bytes.";
  ByteConstants bytes;
  bytes.tensors = reader.number(prefix + "tensors");
  if (reader.has(prefix + "temporary")) bytes.temporary = reader.number(prefix + "temporary");
  if (reader.has(prefix + "per_tile")) bytes.per_tile = reader.data(prefix + "per_tile");
  return bytes;
}

EmbeddingByteConstants read_embedding_bytes(ConstantReader& reader) {
  EmbeddingByteConstants bytes;
  bytes.per_tile = reader.data("cost.operators.embedding.bytes.per_tile");
  bytes.per_lookup = reader.data("cost.operators.embedding.bytes.per_lookup");
  bytes.per_row = reader.data("cost.operators.embedding.bytes.per_row");
  return bytes;
}

}  // namespace

OperatorConstants read_operator_constants(ConstantReader& reader) {
  OperatorConstants constants;
  constants.passes = read_pass_constants(reader);
  constants.convolution = read_surrounding(reader, "convolution");
  constants.octave = read_octave(reader);
  constants.dense = read_surrounding(reader, "dense");
  constants.grouped = read_surrounding(reader, "grouped_matmul");
  constants.product = read_surrounding(reader, "matmul");
  constants.embedding = read_embedding(reader);
  constants.reduction = read_reduction(reader);
  constants.pooling = read_pooling(reader);
  constants.recurrent_launch = reader.cycle_count("cost.operators.recurrent.launch");
  constants.lstm = read_recurrent(reader, "lstm");
  constants.gru = read_recurrent(reader, "gru");
  constants.norm = read_norm(reader);
  constants.elementwise = read_elementwise(reader);
  constants.convolution_bytes = read_bytes(reader, "convolution");
  constants.dense_bytes = read_bytes(reader, "dense");
  constants.product_bytes = read_bytes(reader, "matmul");
  constants.recurrent_bytes = read_bytes(reader, "recurrent");
  constants.pooling_bytes = read_bytes(reader, "pooling");
  constants.reduction_bytes = read_bytes(reader, "reduction");
  constants.embedding_bytes = read_embedding_bytes(reader);
  return constants;
}

}  // namespace podsim::ipu
