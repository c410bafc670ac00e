// The tensors of a model as they lie on the disk: one safetensors file, or several with an index that says which holds what, as Hugging Face cuts
// large models.
//
//   auto const weights = tx::io::tensor_files::open("model-folder");     // or the path of a file
//   tensor_info const* t = weights.find("embeddings.word_embeddings.weight");
#pragma once

#include <tx/io/json.hpp>
#include <tx/io/safetensors_reader.hpp>

#include <set>

namespace tx::io {

class tensor_files {
 public:
  // A folder's model.safetensors or, if it has none, what its model.safetensors.index.json names; or the file `path`. Throws format_error for an
  // index that disagrees with its files, io_error for what cannot be read.
  static tensor_files open(std::filesystem::path const& path) {
    tensor_files out(path.string());
    if (!std::filesystem::is_directory(path)) {
      out.files_.push_back(safetensors::read(path));
      return out;
    }
    auto const one = path / "model.safetensors", index = path / "model.safetensors.index.json";
    if (std::filesystem::exists(one)) {
      out.source_ = one.string();
      out.files_.push_back(safetensors::read(one));
    } else if (std::filesystem::exists(index)) {
      out.source_ = index.string();
      out.read_by_index(path, index);
    } else {
      throw io_error("no weights in " + path.string() + ": neither model.safetensors nor model.safetensors.index.json. FIX: save the model in "
                     "this format, as save_pretrained of current versions of transformers does; pytorch_model.bin is not read");
    }
    return out;
  }

  // Of the file or index, for messages.
  std::string const& source() const { return source_; }
  // Null if there is no such tensor.
  tensor_info const* find(std::string_view name) const {
    for (safetensors const& f : files_)
      if (auto const* t = f.find(name)) return t;
    return nullptr;
  }
  std::vector<tensor_info const*> tensors() const {
    std::vector<tensor_info const*> all;
    for (safetensors const& f : files_)
      for (tensor_info const& t : f.tensors()) all.push_back(&t);
    return all;
  }

 private:
  explicit tensor_files(std::string source) : source_(std::move(source)) {}

  void read_by_index(std::filesystem::path const& folder, std::filesystem::path const& index) {
    nlohmann::json const content = read_json(index);
    auto const fail = [&](std::string const& what) { throw format_error(source_ + ": " + what); };
    if (!content.is_object() || !content.contains("weight_map") || !content["weight_map"].is_object()) fail("has no weight_map");
    std::set<std::string> names;  // of files
    for (auto const& [tensor, file] : content["weight_map"].items()) {
      if (!file.is_string()) fail("the file of tensor " + shown(tensor) + " is no string");
      auto const name = file.get<std::string>();
      if (name.empty() || std::filesystem::path(name).filename() != name || name == "." || name == "..")
        fail("the file of tensor " + shown(tensor) + " is " + shown(name) + ", not a name in the same folder");
      names.insert(name);
    }
    std::size_t held = 0;
    std::vector<std::string> const in_order(names.begin(), names.end());
    for (std::string const& name : in_order) {
      files_.push_back(safetensors::read(folder / name));
      held += files_.back().tensors().size();
      for (tensor_info const& t : files_.back().tensors())
        if (auto const at = content["weight_map"].find(t.name); at == content["weight_map"].end() || at->get<std::string>() != name)
          fail("tensor " + shown(t.name) + " of " + name + " is not where it says");
    }
    if (held != content["weight_map"].size())
      for (auto const& [tensor, file] : content["weight_map"].items())
        if (find(tensor) == nullptr) fail("tensor " + shown(tensor) + " is not in " + file.get<std::string>());
  }

  std::string source_;
  std::vector<safetensors> files_;
};

}  // namespace tx::io
