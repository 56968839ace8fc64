#include "models/rdu/commands.hpp"

#include <fmt/format.h>

#include "sim/config/key_spec.hpp"
#include "sim/plan/settings_reader.hpp"

namespace podsim::rdu {
namespace {

struct CommandText {
  std::string text;
  Place place;
};

// The value itself, or what stands in the file that it names behind an "@".
std::optional<CommandText> text_of(const Value& section, const char* key, Diagnostics& diagnostics) {
  const Value* written = section.find(key);
  if (written == nullptr || !written->is(Value::Kind::string)) return std::nullopt;
  const std::string& text = written->as_string();
  if (!text.starts_with('@')) return CommandText{text, written->place()};
  const std::string file = path_from(Value::string(text.substr(1), written->place()));
  const std::optional<std::string> read =
      read_text_file(file, written->place(), std::string("rdu.") + key, diagnostics);
  if (!read) return std::nullopt;
  return CommandText{*read, {file, 1, 1}};
}

Defines defines_of(const Value& section, Diagnostics& diagnostics) {
  Defines defines;
  const Value* table = section.find("define");
  if (table == nullptr || !table->is(Value::Kind::table)) return defines;
  for (const Value::Member& member : table->members()) {
    switch (member.value.kind()) {
      case Value::Kind::string:
        defines[member.key] = member.value.as_string();
        break;
      case Value::Kind::integer:
        defines[member.key] = std::to_string(member.value.as_integer());
        break;
      default:
        diagnostics.error(member.value.place(), "rdu.define." + member.key, "is " + kind_name(member.value.kind()),
                          "the value of a variable, as text or whole number");
    }
  }
  return defines;
}

// A value that no command asks for is a name misspelled.
void warn_of_idle_defines(const Value& section, const Commands& commands, Diagnostics& diagnostics) {
  const bool unread = !commands.compile || (section.find("launch") != nullptr && !commands.launch);
  if (unread) return;  // what cannot be read may use them
  const Value* table = section.find("define");
  if (table == nullptr || !table->is(Value::Kind::table)) return;
  for (const Value::Member& member : table->members()) {
    const std::string& name = member.key;
    const bool used =
        commands.compile->defines.contains(name) || (commands.launch && commands.launch->defines.contains(name));
    if (used || !commands.defines.contains(name)) continue;
    diagnostics.warning(member.value.place(), "rdu.define." + name,
                        "has no effect: no command has a variable of this name");
  }
}

class WorkloadFiller {
 public:
  WorkloadFiller(Value& document, Diagnostics& diagnostics) : document_(document), diagnostics_(diagnostics) {}

  void fill(const Commands& commands) {
    const CompileCommand& compile = *commands.compile;
    number("workload.micro_batch_size", compile.batch_size);
    const Argument<std::int64_t>* length = compile.shape("max-seq-length");
    if (length != nullptr && !is_generation()) number("workload.sequence_length", *length);
    fill_image(compile);
    if (commands.launch) fill_features(*commands.launch);
    if (commands.compile_given) fill_mode(compile.inference);
    if (document_.find("workload.recompute") == nullptr) {
      const Place origin{"default: tensors are kept off chip", 0, 0};
      document_.set("workload.recompute", Value::boolean(false, origin));
    }
  }

 private:
  // Images are square.
  void fill_image(const CompileCommand& compile) {
    const Argument<std::int64_t>* width = compile.shape("in-width");
    const Argument<std::int64_t>* height = compile.shape("in-height");
    if (width != nullptr) number("workload.image_size", *width);
    if (height != nullptr) number("workload.image_size", *height);
    const Argument<std::int64_t>* channels = compile.shape("in-channels");
    const Argument<std::int64_t>* features = compile.shape("init-features");
    if (channels != nullptr) number("model.in_channels", *channels);
    if (features != nullptr) number("model.init_features", *features);
  }

  // Published programs give it to the run alone.
  void fill_features(const LaunchCommand& launch) {
    const auto features = launch.shapes.find("init-features");
    if (features != launch.shapes.end()) number("model.init_features", features->second, "launch");
  }

  bool is_generation() const {
    const Value* mode = document_.find("workload.mode");
    return mode != nullptr && mode->is(Value::Kind::string) && mode->as_string() == "generation";
  }

  void number(const char* key, const Argument<std::int64_t>& argument, const char* command = "compile") {
    if (!argument.known || !argument.valid || argument.unset || argument.value < 1) return;
    const Value* written = document_.find(key);
    if (written == nullptr) {
      document_.set(key, Value::integer(argument.value, argument.place));
    } else if (written->is(Value::Kind::integer) && written->as_integer() != argument.value) {
      diagnostics_.error(written->place(), key,
                         fmt::format("is {}, but the {} command says {} {}", written->as_integer(), command,
                                     argument.name, argument.value),
                         "one of them, or both equal");
    }
  }

  void fill_mode(const Argument<bool>& inference) {
    const Value* written = document_.find("workload.mode");
    if (written == nullptr) {
      document_.set("workload.mode", Value::string(inference.value ? "inference" : "training", inference.place));
      return;
    }
    if (!written->is(Value::Kind::string)) return;
    const std::string& mode = written->as_string();
    if (inference.value && mode == "training") {
      diagnostics_.error(written->place(), "workload.mode",
                         "is \"training\", but the compile command says --inference: its program has no backward pass",
                         "\"inference\" or \"generation\"");
    } else if (!inference.value && (mode == "inference" || mode == "generation")) {
      diagnostics_.error(written->place(), "workload.mode",
                         fmt::format("is \"{}\", but the compile command makes a program for training", mode),
                         "--inference in the compile command");
    }
  }

  Value& document_;
  Diagnostics& diagnostics_;
};

}  // namespace

Commands read_commands(const Value& section, Diagnostics& diagnostics) {
  Commands commands;
  commands.defines = defines_of(section, diagnostics);
  commands.compile_given = section.find("compile") != nullptr;
  if (const auto compile = text_of(section, "compile", diagnostics)) {
    commands.texts["compile"] = compile->text;
    commands.compile = read_compile_command(compile->text, compile->place, commands.defines, diagnostics);
  } else if (!commands.compile_given) {
    commands.compile =
        read_compile_command("python app.py compile", {"default: no compile command", 0, 0}, {}, diagnostics);
  }
  if (const auto launch = text_of(section, "launch", diagnostics)) {
    commands.texts["launch"] = launch->text;
    commands.launch = read_launch_command(launch->text, launch->place, commands.defines, diagnostics);
  }
  warn_of_idle_defines(section, commands, diagnostics);
  return commands;
}

void fill_workload(Value& document, Diagnostics& diagnostics) {
  const Value empty = Value::table({"default", 0, 0});
  const Value* section = document.find("rdu");
  if (section != nullptr && !section->is(Value::Kind::table)) return;
  Diagnostics told_when_resolved;
  const Commands commands = read_commands(section != nullptr ? *section : empty, told_when_resolved);
  if (commands.compile) WorkloadFiller(document, diagnostics).fill(commands);
}

}  // namespace podsim::rdu
