# Usage: awk -f doxygen_filter.awk HEADER
# A header as Doxygen wants to see it, line by line where it was: comments become `///`; bodies of functions, detail namespaces,
# specialisations, static_asserts and using-declarations go, as they say nothing to who calls. docs/Doxyfile names it as its filter.
#   the comment a header begins with     of the file, and of the declarations it speaks of by name that have none of their own
#   a comment before a declaration       `///`
#   one behind a member or enumerator    `///<`
#   deeper indented lines of a comment   code

{ line[NR] = $0 }

END {
  pragma = 0
  for (i = 1; i <= NR && !pragma; ++i) if (line[i] ~ /^#pragma once/) pragma = i
  if (!pragma || line[pragma + 1] != "") wrong(1, "no `#pragma once` with an empty line behind it")
  folder = FILENAME
  sub(/^.*include\/tx\//, "", folder)
  own = folder
  sub(/^.*\//, "", own)
  path = folder
  sub(/\.hpp$/, "", own)
  if (!sub(/\/.*$/, "", folder)) folder = "tx"

  for (i = 1; i < pragma; ++i) head = head " " line[i]
  comment(1, pragma - 1, "///")
  out[pragma] = "/// \\ingroup " folder
  out[pragma + 1] = "/// \\file"

  depth = 0
  kind[0] = "scope"
  statement = ""
  for (i = pragma + 2; i <= NR; ++i) {
    out[i] = line[i]
    if (line[i] ~ /^[ \t]*#/) {
      if (!open()) out[i] = ""
      continue
    }
    if (line[i] ~ /^[ \t]*\/\//) {
      i = whole_comment(i)
      continue
    }
    scan(i)
  }
  if (depth) wrong(NR, "braces do not match")
  for (i = 1; i <= NR; ++i) print out[i]
}

function wrong(i, what) {
  printf "%s:%d: %s\n", FILENAME, i, what > "/dev/stderr"
  exit 1
}

# ---- comments --------------------------------------------------------------------------------------------------------

function text_of(i, t) {
  t = line[i]
  sub(/^[ \t]*\/\/ ?/, "", t)
  return t
}

# Lines first to last, nothing but comments, written with this mark.
function comment(first, last, mark, i, t, indent, inside, code, ticks) {
  code = 0
  ticks = 0
  for (i = first; i <= last; ++i) ticks += gsub(/`/, "`", line[i])
  span = 0
  for (i = first; i <= last; ++i) {
    t = text_of(i)
    indent = line[i]
    sub(/\/\/.*$/, "", indent)
    inside = t ~ /^  +[^ ]/
    if (inside && !code) t = "\\code{.cpp} " t
    else if (!inside && t != "") t = escaped(t, ticks % 2)
    if (inside && !(i < last && text_of(i + 1) ~ /^  +[^ ]/)) t = t " \\endcode"
    # A line that ends a sentence ends a line of the page too: one form of an op in each.
    else if (!inside && t ~ /[.:]$/ && i < last && text_of(i + 1) ~ /^[A-Za-z`]/) t = t "<br>"
    code = inside
    out[i] = indent mark (t == "" ? "" : " ") t
  }
}

# Text for Doxygen: nothing in it is a command, a tag or a link. What stands in `ticks` is left alone; it may go on on the next line.
function escaped(t, literal, parts, n, k, s) {
  n = split(t, parts, "`")
  s = ""
  for (k = 1; k <= n; ++k) {
    if (k > 1) {
      s = s (literal ? "\\`" : "`")
      if (!literal) span = !span
    }
    s = s (span ? parts[k] : plain(parts[k]))
  }
  return s
}
function plain(t, s) {
  gsub(/[\\@#&%<>*]/, "\\\\&", t)
  gsub(/::/, "\\::", t)  # names are linked without them
  gsub(/e\.g\. /, "e.g.\\ ", t)
  # The dot of an initial ends no sentence.
  s = ""
  while (match(t, /(^|[^A-Za-z])[A-Z]\. /)) {
    s = s substr(t, 1, RSTART + RLENGTH - 2) "\\ "
    t = substr(t, RSTART + RLENGTH)
  }
  return s t
}

# A comment on lines of its own, from line i; returns its last line. It is of what follows, or goes on from one behind a member.
function whole_comment(i, last, next_line) {
  last = i
  while (last < NR && line[last + 1] ~ /^[ \t]*\/\//) ++last
  next_line = line[last + 1]
  if (!open() || depth && hidden[depth]) {
    for (; i <= last; ++i) out[i] = ""
  } else if (behind[i - 1] && match(line[i], /\/\//) && RSTART == behind[i - 1]) {
    comment(i, i, "///<")
    behind[i] = RSTART
    return i
  } else if (statement ~ /[^ \t]/ || next_line ~ /^[ \t]*($|}|static_assert|friend|(public|private|protected):|#[ \t]*(include|endif|else))/ ||
             next_line ~ /^[ \t]*namespace [a-z:]*(detail|rules)/) {
    for (; i <= last; ++i) out[i] = ""
  } else {
    comment(i, last, "///")
    documents = i
    documented = last + 1
  }
  return last
}

# ---- code ------------------------------------------------------------------------------------------------------------

# Is what stands here seen from outside?
function open() { return kind[depth] ~ /^(space|scope|enum)$/ }

# Without what stands in <>, which nests, and attributes and requirements in ().
function bare(t) {
  gsub(/->|<=|>=|&&|\|\|/, " ", t)
  gsub(/operator *[<>]+/, "operator_", t)
  while (gsub(/<[^<>()]*(\([^()<>]*\)[^<>()]*)*>/, " ", t)) {}
  gsub(/alignas *\([^()]*\)/, " ", t)
  while (gsub(/requires *\([^()]*(\([^()]*\)[^()]*)*\)/, " ", t)) {}
  return t
}

# What a brace opens, from the text before it.
function kind_of(t) {
  if (t ~ /(^|[^a-z_])concept /) return "keep"
  if (t ~ /(struct|class) +[A-Za-z_0-9:]+ *</) return "special"
  t = bare(t)
  if (t ~ /[()=]/) return "body"
  if (t ~ /(^|[^a-z_])namespace [a-z:]*(detail|rules)([^a-z_]|$)/) return "skip"
  if (t ~ /(^|[^a-z_])enum[^a-z_]/) return "enum"
  if (t ~ /(^|[^a-z_])namespace([^a-z_]|$)/) return depth ? "scope" : "space"
  if (t ~ /(^|[^a-z_])(struct|class|union)([^a-z_]|$)/) return "scope"
  return "body"
}

# The name that a declaration declares.
function name_of(t) {
  t = bare(t)
  if (match(t, /(^|[^A-Za-z0-9_])(struct|class|concept|using) +[A-Za-z_0-9]+/)) {
    t = substr(t, RSTART, RLENGTH)
    sub(/^.* /, "", t)
    return t
  }
  sub(/[({=;].*$/, "", t)
  sub(/[ \t]+$/, "", t)
  sub(/^.*[^A-Za-z_0-9]/, "", t)
  return t
}

# A declaration without a comment that the head of the file speaks of gets the head's.
function declared(t, name) {
  if (begun == documented || out[begun] ~ /\\like/ || depth > 1 || t !~ /[^ \t;]/ || bare(t) ~ /(^|[^a-z_])namespace /) return
  name = name_of(t)
  if (name == "") return
  if (name == own || head ~ ("(^|[^A-Za-z0-9_:.])" name "[(<]") || t ~ /operator/)
    out[begun] = "/** \\like{" path "} */ " out[begun]
}

# One line of code: braces, statements, comments behind them.
function scan(i, n, k, c, two, text, quote, trailing, t) {
  t = line[i]
  n = length(t)
  text = ""
  trailing = 0
  for (k = 1; k <= n; ++k) {
    c = substr(t, k, 1)
    two = substr(t, k, 2)
    if (two == "//") {
      trailing = k
      break
    }
    if (two == "R\"" && match(substr(t, k), /\)"/)) {
      c = substr(t, k, RSTART + 1)
      k += RSTART
    } else if (c == "\"" || c == "'" && substr(t, k - 1, 1) !~ /[0-9]/) {
      quote = c
      do {
        if (substr(t, k, 1) == "\\") {
          c = c substr(t, ++k, 1)
        }
        ++k
        c = c substr(t, k, 1)
      } while (k < n && substr(t, k, 1) != quote)
    } else if (c == "}") {
      if (!depth) wrong(i, "one } too many")
      if (kind[depth] == "space") text = text "/** @} */ "
      if (kind[depth--] == "special") dropped = from[depth + 1]
      if (kind[depth] != "keep") statement = ""
    }
    if (open() || kind[depth] == "keep") {
      text = text c
      if (statement == "" && c ~ /[^ \t;]/ && c != "}") begun = i
      if (statement != "" || c ~ /[^ \t}]/) statement = statement c
    }
    if (c == "{") {
      kind[depth + 1] = open() ? kind_of(statement) : kind[depth]
      if (open() && kind[depth + 1] ~ /scope|enum|body|keep/) declared(statement)
      hidden[depth + 1] = hidden[depth] || kind[depth + 1] == "scope" && bare(statement) ~ /(^|[^a-z_])class /
      ++depth
      from[depth] = begun == documented ? documents : begun
      if (kind[depth] != "keep") statement = ""
      if (kind[depth] == "space") text = text " /** \\folder{" folder "} */"
    } else if (open() && (c == ";" || c == "," && kind[depth] == "enum")) {
      if (statement ~ /^[ \t]*(static_assert|using [^=]*;)/) dropped = begun == documented ? documents : begun
      else if (kind[depth] != "enum") declared(statement)
      statement = ""
    } else if (c == ":" && statement ~ /^[ \t]*(public|private|protected):$/) {
      hidden[depth] = statement !~ /public/
      statement = ""
    }
  }
  if (dropped) {
    for (; dropped <= i; ++dropped) out[dropped] = ""
    dropped = 0
    return
  }
  t = out[i]
  if (t ~ /^\/\*\* \\like/) {  # set by declared()
    sub(/\*\/ .*$/, "*/ ", t)
    text = t text
  }
  if (trailing && open() && !hidden[depth] && text ~ /[;,}]?[ \t]*$/ && text ~ /[^ \t}]/ && text !~ /[{(][ \t]*$/ &&
      text !~ /^\/\*\* @} \*\// && (statement == "" || kind[depth] == "enum")) {
    behind[i] = trailing
    t = escaped(substr(line[i], trailing + 3), gsub(/`/, "`", line[i]) % 2)
    if (text ~ /^[ \t]*(enum|struct|class) .*};/) text = "/** " t " */ " text  # a type on one line
    else text = text "///< " t
  }
  out[i] = text
  if (statement ~ /[^ \t]/) statement = statement " "
}
