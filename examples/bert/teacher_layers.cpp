#include "teacher_layers.hpp"

#include <tx/core/error.hpp>
#include <tx/nn/taught_by.hpp>

#include <algorithm>
#include <charconv>
#include <map>

namespace bert {
namespace {

// "bert.encoder.layer.3.output.dense.bias" is of layer 3: the number's place in the name.
struct layer_place {
  std::size_t begin = 0, end = 0;
  int layer = -1;  // of none

  explicit layer_place(std::string const& name) {
    static std::string const before = ".layer.";
    std::size_t const at = name.find(before);
    if (at == std::string::npos) return;
    begin = at + before.size();
    end = std::min(name.find('.', begin), name.size());
    std::from_chars(name.data() + begin, name.data() + end, layer);
  }
};

int layers_of(std::span<named_tensor const> tensors) {
  int layers = 0;
  for (auto const& t : tensors) layers = std::max(layers, layer_place(t.name).layer + 1);
  return layers;
}

}  // namespace

void copy_teacher_layers(std::span<named_tensor const> student, std::span<named_tensor const> teacher) {
  std::map<std::string, named_tensor const*> by_name;
  for (auto const& t : teacher) by_name[t.name] = &t;
  int const layers = layers_of(student), of_teacher = layers_of(teacher);
  if (layers > of_teacher)
    throw tx::value_error("--teacher-layers: the student has " + std::to_string(layers) + " layers, its teacher " + std::to_string(of_teacher) + ". FIX: a student of at most as many");
  std::vector<named_tensor const*> sources;
  for (auto const& t : student) {
    std::string name = t.name;
    if (layer_place const place(name); place.layer >= 0)
      name.replace(place.begin, place.end - place.begin, std::to_string(tx::nn::taught_by(place.layer, layers, of_teacher)));
    auto const at = by_name.find(name);
    if (at == by_name.end() || at->second->shape != t.shape)
      throw tx::value_error("--teacher-layers: the teacher has no " + name + " of the shape of the student's. FIX: a student of the teacher's kind and width, or leave it out");
    sources.push_back(at->second);
  }
  for (std::size_t k = 0; k < sources.size(); ++k) std::ranges::copy(sources[k]->data, student[k].data.begin());
}

}  // namespace bert
