// A model's folder: config.json, model.safetensors and the vocabulary.
#pragma once

#include "config_file.hpp"
#include "tokenizer.hpp"

#include <tx/io/run_lock.hpp>

#include <optional>
#include <string>
#include <vector>

namespace twinbert {

// What a run of training makes of a folder that holds something.
enum class existing { refuse, write_over, set_aside, resume };

// The folder that a run of training writes to, and no other run as long as this lives. What keeps the run from writing
// is found out at once; what is there changes in begin(), once the run has its data.
class output_folder {
 public:
  // Makes the folder where there is none. Throws io_error where another run is at work in it (or, before it is renamed,
  // below it), where it holds something and `what` is refuse, and with path and reason where it cannot be written.
  output_folder(std::string const& path, existing what);
  output_folder(output_folder const&) = delete;
  output_folder& operator=(output_folder const&) = delete;
  // Removes a folder that it has made and in which nothing has been written.
  ~output_folder();

  // Sets aside what is there, if that was asked for: it is renamed to `path`.1, or .2 and so on where that exists.
  // Returns the new name; empty if there was nothing.
  std::string begin();
  std::string const& path() const { return path_; }

 private:
  void make();

  std::string path_;
  bool aside_ = false, made_ = false;
  std::optional<tx::io::run_lock> lock_;
  std::vector<tx::io::run_lock> below_;
};

void write_config(std::string const& folder, description const& d, bool layers);  // the vocabulary is written before
void write_parameters(std::string const& folder, engine const& e);

// Throws unless config.json describes the compiled model.
model_config read_config(std::string const& folder, description const& d);
// Throws unless it is the vocabulary that the model was trained with, by its checksum in config.json; where that has
// none, any that fits.
tokenizer load_vocabulary(std::string const& folder, description const& d, model_config const& c);
// Throws for missing, unknown and misshapen tensors.
void read_parameters(std::string const& folder, engine const& e);

}  // namespace twinbert
