// The place of data as a checkpoint brings it back.
#pragma once

#include "../io/temp_folder.hpp"

#include <tx/io/safetensors.hpp>
#include <tx/train/loop/saved.hpp>

#include <optional>

// What a checkpoint makes of it: values, and arrays in a file that is read again.
struct round_trip {
  temp_folder folder;
  tx::io::checkpoint_values values;
  std::optional<tx::io::safetensors> arrays;

  explicit round_trip(tx::train::to_save const& what) : values(what.values()) {
    tx::io::write_safetensors(folder / "arrays", what.arrays(), {});
    arrays = tx::io::safetensors::read(folder / "arrays");
  }
  tx::train::saved in() const { return {values, *arrays}; }
};

template <class Data>
round_trip place_of(Data const& data) {
  tx::train::to_save out;
  data.save(out);
  return round_trip(out);
}
