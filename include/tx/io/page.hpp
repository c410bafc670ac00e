// A compiled program as one HTML page that needs nothing else: its kernels, its graph, and what lies where in memory
// while they run. To open in a browser, to attach to a report.
#pragma once

#include <tx/io/files.hpp>
#include <tx/io/page_draw.hpp>
#include <tx/io/page_graph.hpp>
#include <tx/io/page_layout.hpp>
#include <tx/io/page_script.hpp>
#include <tx/io/page_text.hpp>
#include <tx/io/utf8.hpp>

#include <charconv>
#include <concepts>
#include <ranges>

namespace tx::io {

namespace detail {

// JSON that may stand in a <script>: no name ends it or opens a comment.
class page_json {
 public:
  static std::string literal(std::string_view text) {
    std::string out;
    for (char const c : json_string(text)) {
      if (c == '<')
        out += "\\u003c";
      else if (c == '>')
        out += "\\u003e";
      else if (c == '&')
        out += "\\u0026";
      else
        out += c;
    }
    return out;
  }
  template <class T>
  static std::string literal(T const& value) {
    if constexpr (std::same_as<T, bool>)
      return value ? "true" : "false";
    else if constexpr (std::is_enum_v<T>)
      return std::to_string(static_cast<int>(value));
    else if constexpr (std::ranges::range<T>)
      return list(value, [](auto const& item) { return literal(item); });
    else {
      char text[64];
      return std::string(text, std::to_chars(text, text + sizeof text, value).ptr);
    }
  }
  static std::string literal(std::string const& text) { return literal(std::string_view(text)); }
  static std::string literal(char const* text) { return literal(std::string_view(text)); }

  template <class Range, class F>
  static std::string list(Range const& items, F const& json_of) {
    std::string out = "[";
    for (auto const& item : items) {
      std::string const json = json_of(item);
      out.append(out.size() > 1 ? "," : "").append(json.starts_with('{') ? "\n" : "").append(json);
    }
    return out + "]";
  }

  // A member of the object.
  template <class T>
  page_json& add(char const* key, T const& value) {
    return add_json(key, literal(value));
  }
  page_json& add_json(char const* key, std::string const& value) {
    text_ += (text_.size() > 1 ? ",\"" : "\"") + std::string(key) + "\":" + value;
    return *this;
  }
  std::string done() const { return text_ + "}"; }

 private:
  std::string text_ = "{";
};

inline std::string escaped_html(std::string_view text) {
  std::string out;
  for (char const c : valid_utf8(text)) {
    switch (c) {
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '&': out += "&amp;"; break;
      case '"': out += "&quot;"; break;
      default: out += c;
    }
  }
  return out;
}

template <class Memory>
std::string memory_json(Memory const& m) {
  return page_json()
      .add("parameters", m.parameters)
      .add("optimizer", m.optimizer)
      .add("activations", m.activations)
      .add("gradients", m.gradients)
      .add("workspace", m.workspace)
      .add("arena", m.arena)
      .add("largest_live", m.largest_live)
      .add("peak", m.peak)
      .add("recomputed_flops", m.recomputed_flops)
      .done();
}

template <class Outline>
std::string program_json(Outline const& o) {
  page_json out;
  out.add("name", o.name)
      .add_json("memory", memory_json(o.memory))
      .add("arena", o.arena)
      .add("largest_live", o.largest_live);
  out.add("kernels", o.kernels).add("moments", o.moments);
  out.add_json("values", page_json::list(o.values, [](auto const& v) {
                 return page_json()
                     .add("op", v.op)
                     .add("name", v.name)
                     .add("shape", v.shape)
                     .add("kind", v.kind)
                     .add("when", v.when)
                     .add("region", v.region)
                     .add("of", v.of)
                     .add("call", v.call)
                     .add("buffer", v.buffer)
                     .add("inputs", v.inputs)
                     .done();
               }));
  out.add_json("calls", page_json::list(o.calls, [](auto const& c) {
                 return page_json()
                     .add("name", c.name)
                     .add("parameters", c.parameters)
                     .add("when", c.when)
                     .add("kernel", c.kernel)
                     .add("region", c.region)
                     .add("band", c.band)
                     .add("moment", c.moment)
                     .add("runs", c.runs)
                     .add("rows", c.rows)
                     .add("cols", c.cols)
                     .add("depth", c.depth)
                     .add("batch", c.batch)
                     .add("flops", c.flops)
                     .add("bytes", c.bytes)
                     .add("timed", c.timed)
                     .add("seconds", c.seconds)
                     .done();
               }));
  out.add_json("regions", page_json::list(o.regions, [](auto const& r) {
                 return page_json()
                     .add("parent", r.parent)
                     .add("iterations", r.iterations)
                     .add("reversed", r.reversed)
                     .add("first", r.first)
                     .add("last", r.last)
                     .done();
               }));
  out.add_json("bands", page_json::list(o.bands, [](auto const& b) {
                 return page_json().add("matrices", b.matrices).add("each", b.each).done();
               }));
  out.add_json("buffers", page_json::list(o.buffers, [](auto const& b) {
                 return page_json()
                     .add("offset", b.offset)
                     .add("bytes", b.bytes)
                     .add("first", b.first)
                     .add("last", b.last)
                     .add("scratch_of", b.scratch_of)
                     .done();
               }));
  return out.done();
}

}  // namespace detail

// Outline: as tx::outline_of makes it.
template <class Outline>
std::string page_of(Outline const& outline, std::string_view title) {
  std::string const data = detail::page_json().add("title", title).add_json("program", detail::program_json(outline)).done();
  std::string page = "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>";
  page.append(detail::escaped_html(title)).append("</title>\n<style>").append(detail::page_style);
  page.append("</style></head>\n").append(detail::page_body);
  page.append("<script type=\"application/json\" id=\"data\">").append(data).append("</script>\n<script>");
  for (std::string_view const part :
       {detail::page_script, detail::page_layout, detail::page_graph, detail::page_draw, detail::page_start})
    page.append(part);
  page.append("</script></body></html>\n");
  return page;
}

// Throws io_error with the path and the system's reason.
template <class Outline>
void write_page(std::filesystem::path const& path, Outline const& outline,
                std::string_view title = "A program of tx") {
  write_file_atomic(path, page_of(outline, title));
}

}  // namespace tx::io
