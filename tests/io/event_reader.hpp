// Reads event files of TensorBoard by the documents of their formats, on its own: no code of the writer.
#pragma once

#include <bit>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

struct read_event {
  double wall_time = 0;
  std::int64_t step = -1;  // not given
  std::string version;
  int session = -1;
  std::map<std::string, float> scalars;
};

class event_reader {
 public:
  // Throws std::runtime_error for a record that is cut short or whose checksums are wrong.
  static std::vector<read_event> read(std::string_view file) {
    std::vector<read_event> all;
    while (!file.empty()) {
      auto const length = number<std::uint64_t>(file, 0);
      if (number<std::uint32_t>(file, 8) != masked(file.substr(0, 8))) throw std::runtime_error("length");
      if (file.size() < 16 + length) throw std::runtime_error("cut short");
      std::string_view const data = file.substr(12, length);
      if (number<std::uint32_t>(file, 12 + length) != masked(data)) throw std::runtime_error("data");
      all.push_back(event(data));
      file.remove_prefix(16 + length);
    }
    return all;
  }

 private:
  template <class T>
  static T number(std::string_view from, std::size_t at) {
    if (from.size() < at + sizeof(T)) throw std::runtime_error("cut short");
    T value = 0;
    for (std::size_t i = 0; i < sizeof(T); ++i)
      value = static_cast<T>(value | static_cast<T>(static_cast<unsigned char>(from[at + i])) << (8 * i));
    return value;
  }
  // Bit by bit, as the polynomial says.
  static std::uint32_t masked(std::string_view bytes) {
    std::uint32_t rest = ~std::uint32_t{0};
    for (char const c : bytes) {
      rest ^= static_cast<unsigned char>(c);
      for (int bit = 0; bit < 8; ++bit) rest = (rest & 1) != 0 ? (rest >> 1) ^ 0x82f63b78u : rest >> 1;
    }
    return std::rotr(~rest, 15) + 0xa282ead8u;
  }

  struct field {
    int number;
    std::uint64_t value;      // of the wire types 0, 1 and 5
    std::string_view inside;  // of wire type 2
  };
  static std::vector<field> fields(std::string_view bytes) {
    std::vector<field> all;
    auto const varint = [&] {
      std::uint64_t value = 0;
      for (int shift = 0;; shift += 7) {
        auto const byte = number<unsigned char>(bytes, 0);
        bytes.remove_prefix(1);
        value |= std::uint64_t{byte & 0x7fu} << shift;
        if (byte < 0x80) return value;
      }
    };
    while (!bytes.empty()) {
      std::uint64_t const key = varint();
      field f{static_cast<int>(key >> 3), 0, {}};
      switch (key & 7) {
        case 0: f.value = varint(); break;
        case 1: f.value = number<std::uint64_t>(bytes, 0), bytes.remove_prefix(8); break;
        case 2: {
          std::uint64_t const length = varint();
          if (length > bytes.size()) throw std::runtime_error("cut short");
          f.inside = bytes.substr(0, length), bytes.remove_prefix(length);
          break;
        }
        case 5: f.value = number<std::uint32_t>(bytes, 0), bytes.remove_prefix(4); break;
        default: throw std::runtime_error("wire type");
      }
      all.push_back(f);
    }
    return all;
  }

  static read_event event(std::string_view data) {
    read_event e;
    for (field const& f : fields(data)) {
      if (f.number == 1) e.wall_time = std::bit_cast<double>(f.value);
      if (f.number == 2) e.step = static_cast<std::int64_t>(f.value);
      if (f.number == 3) e.version = f.inside;
      if (f.number == 7) e.session = static_cast<int>(fields(f.inside).at(0).value);
      if (f.number != 5) continue;
      for (field const& value : fields(f.inside)) {
        auto const parts = fields(value.inside);
        if (value.number != 1 || parts.size() != 2 || parts[0].number != 1 || parts[1].number != 2)
          throw std::runtime_error("summary");
        e.scalars[std::string(parts[0].inside)] = std::bit_cast<float>(static_cast<std::uint32_t>(parts[1].value));
      }
    }
    return e;
  }
};
