// Was a program compiled for the model of a folder? Shapes alone do not say: weights of 12 heads fit a program of 6, and give other numbers.
//
//   struct minilm { static constexpr int layers = 6, hidden = 384, heads = 12, ffn = 1536, vocabulary = 30522, positions = 512, types = 2; };
//   tx::io::check_config<minilm>(tx::io::model_folder::open("all-MiniLM-L6-v2"));
#pragma once

#include <tx/io/model_folder.hpp>

#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <ratio>

namespace tx::io {

namespace detail {

// A number of a configuration: what config.json calls it, in files of DistilBERT too, and what a program's configuration does. `otherwise`: what a file means
// that does not say; 0: it has to. cmake/TxAddBert.cmake takes the same.
struct config_field {
  char const *bert, *distilbert, *member;
  int otherwise = 0;
};
inline constexpr config_field config_fields[] = {
    {"num_hidden_layers", "n_layers", "layers"}, {"hidden_size", "dim", "hidden"},           {"num_attention_heads", "n_heads", "heads"},
    {"intermediate_size", "hidden_dim", "ffn"},  {"vocab_size", "vocab_size", "vocabulary"}, {"max_position_embeddings", "max_position_embeddings", "positions", 512},
    {"type_vocab_size", nullptr, "types", 2}};

template <class Config>
constexpr std::array<int, std::size(config_fields)> config_numbers() {
  return {Config::layers, Config::hidden, Config::heads, Config::ffn, Config::vocabulary, Config::positions, Config::types};
}
// What a configuration names only where it is unusual.
template <class Config>
constexpr int config_first_position() {
  if constexpr (requires { Config::first_position; }) return Config::first_position;
  else return 0;
}
template <class Config>
constexpr int config_embedding() {
  if constexpr (requires { Config::embedding; }) return Config::embedding;
  else return Config::hidden;
}
template <class Config>
constexpr double config_epsilon() {
  if constexpr (requires { typename Config::layer_norm_epsilon; })
    return static_cast<double>(Config::layer_norm_epsilon::num) / static_cast<double>(Config::layer_norm_epsilon::den);
  else
    return 1e-12;
}
inline std::string short_number(double x) {
  char digits[32];
  return {digits, std::to_chars(digits, digits + sizeof digits, x).ptr};
}

// Collects what differs, and the configuration that would not.
class config_comparison {
 public:
  explicit config_comparison(model_folder const& folder) : config_(folder.config()), type_(folder.model_type()) {}

  void number(config_field const& field, int compiled) {
    char const* const name = type_ == "distilbert" ? field.distilbert : field.bert;
    std::optional<std::int64_t> said;
    if (name == nullptr) {
      said = 0;  // DistilBERT knows no types of tokens
    } else if (auto const at = config_.find(name); at != config_.end()) {
      if (at->is_number_integer()) said = at->get<std::int64_t>();
      else differs(name, shown_value(*at), std::to_string(compiled), field.member);
    } else if (field.otherwise > 0) {
      said = field.otherwise;
    } else {
      differs(name, "not given", std::to_string(compiled), field.member);
    }
    if (said && *said != compiled) differs(name == nullptr ? "types of tokens" : name, std::to_string(*said), std::to_string(compiled), field.member);
    wanted_ += std::string("    static constexpr int ") + field.member + " = " + (said ? std::to_string(*said) : "...") + ";\n";
  }
  // RoBERTa's positions begin behind that of its padding, everyone else's with 0.
  void first_position(int compiled) {
    std::int64_t const padding = whole("pad_token_id", 1);
    bool const roberta = type_ == "roberta";
    unusual(roberta ? "pad_token_id + 1" : "the position of a text's first token", roberta ? padding + 1 : 0, compiled, "first_position", 0);
  }
  // ELECTRA's vectors of words have a width of their own.
  void embedding(int compiled, int hidden) {
    unusual("embedding_size", type_ == "electra" ? whole("embedding_size", 128) : whole("hidden_size", hidden), compiled, "embedding", hidden);
  }
  void epsilon(double compiled) {
    double said = 1e-12;
    if (auto const at = config_.find("layer_norm_eps"); at != config_.end() && at->is_number()) said = at->get<double>();
    if (said == compiled) return;
    differs("layer_norm_eps", short_number(said), short_number(compiled), "layer_norm_epsilon");
    bool const has_ratio = 1 / said >= 1 && 1 / said < 0x1p62;
    wanted_ += "    using layer_norm_epsilon = std::ratio<1, " + (has_ratio ? std::to_string(std::llround(1 / said)) : "...") + ">;\n";
  }
  // A text that a program has no member for: what it computes.
  void choice(char const* name, nlohmann::json const& computed) {
    auto const at = config_.find(name);
    if (at == config_.end() || at->is_null()) return;
    if (*at != computed) other_ += line(name, shown_value(*at), shown_value(computed), "which programs compute, whatever their configuration");
  }

  // Throws shape_error if anything differs.
  void finish(std::string const& path) const {
    if (differences_.empty() && other_.empty()) return;
    std::string message = path + " is of another model than the program was compiled for:\n" + differences_ + other_;
    if (!differences_.empty()) message += "FIX: compile it with\n  struct config {\n" + wanted_ + "  };";
    if (!other_.empty()) message += (differences_.empty() ? "FIX: " : "\nand ") + std::string("a model of which this is true, or modules of one's own");
    throw shape_error(message);
  }

 private:
  static std::string line(std::string const& name, std::string const& said, std::string const& compiled, std::string const& member) {
    return "  " + name + " is " + said + " in the file and " + compiled + " in the program (" + member + ")\n";
  }
  void differs(std::string const& name, std::string const& said, std::string const& compiled, std::string const& member) {
    differences_ += line(name, said, compiled, member);
  }

  std::int64_t whole(char const* name, std::int64_t otherwise) const {
    auto const at = config_.find(name);
    return at != config_.end() && at->is_number_integer() ? at->get<std::int64_t>() : otherwise;
  }
  void unusual(char const* name, std::int64_t said, int compiled, char const* member, std::int64_t usual) {
    if (said != compiled) differs(name, std::to_string(said), std::to_string(compiled), member);
    if (said != usual) wanted_ += std::string("    static constexpr int ") + member + " = " + std::to_string(said) + ";\n";
  }

  nlohmann::json const& config_;
  std::string type_;
  std::string differences_{}, other_{}, wanted_{};
};

}  // namespace detail

// Throws shape_error that names every field in which the folder's config.json differs from Config and what to compile, format_error for a kind of model
// that is none of `model_types`.
template <class Config>
void check_config(model_folder const& folder, std::vector<std::string> const& model_types = {"bert"}) {
  std::string const path = folder.config_path().string();
  bool known = false;
  std::string all;
  for (std::string const& type : model_types) {
    known = known || folder.model_type() == type;
    all += (all.empty() ? "" : ", ") + type;
  }
  if (!known) throw format_error(path + ": its model_type is " + shown(folder.model_type()) + "; the program reads " + all);
  detail::config_comparison compare(folder);
  constexpr auto numbers = detail::config_numbers<Config>();
  for (std::size_t k = 0; k < numbers.size(); ++k) compare.number(detail::config_fields[k], numbers[k]);
  compare.first_position(detail::config_first_position<Config>());
  compare.embedding(detail::config_embedding<Config>(), Config::hidden);
  compare.epsilon(detail::config_epsilon<Config>());
  compare.choice(folder.model_type() == "distilbert" ? "activation" : "hidden_act", "gelu");
  compare.choice("position_embedding_type", "absolute");
  compare.choice("is_decoder", false);
  compare.choice("add_cross_attention", false);
  compare.finish(path);
}

}  // namespace tx::io
