// Syllables of Hangul are numbered: 19 leading consonants by 21 vowels by 27 trailing consonants, or none.
#pragma once

namespace tx::text::detail {

namespace hangul {
inline constexpr char32_t syllables = 0xAC00, leads = 0x1100, vowels = 0x1161, trails = 0x11A7, per_lead = 588, per_vowel = 28, count = 11172;

inline bool is_syllable(char32_t c) { return c >= syllables && c < syllables + count; }
// 0 where they are no syllable.
inline char32_t composed(char32_t a, char32_t b) {
  if (a >= leads && a < leads + 19 && b >= vowels && b < vowels + 21) return syllables + (a - leads) * per_lead + (b - vowels) * per_vowel;
  bool const is_open = is_syllable(a) && (a - syllables) % per_vowel == 0;
  return is_open && b > trails && b < trails + per_vowel ? a + (b - trails) : 0;
}
// Calls each(letter) for those of a syllable.
template <class Each>
void take_apart(char32_t syllable, Each&& each) {
  char32_t const at = syllable - syllables;
  each(leads + at / per_lead);
  each(vowels + at % per_lead / per_vowel);
  if (at % per_vowel != 0) each(trails + at % per_vowel);
}
}  // namespace hangul

}  // namespace tx::text::detail
