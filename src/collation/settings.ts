// What a collation asks for, without its locale: the attributes of UTS #10 and UTS #35 that MongoDB's collation documents name.

/** How texts are compared. */
export interface CollationSettings {
  /** 1 letters, 2 accents, 3 case and variants, 4 what `shifted` ignores, 5 code points. */
  readonly strength: 1 | 2 | 3 | 4 | 5;
  /** Case as a level of its own, between accents and variants. */
  readonly caseLevel: boolean;
  readonly caseFirst: 'off' | 'lower' | 'upper';
  /** Digits in a row are one number. */
  readonly numericOrdering: boolean;
  /** `shifted`: spaces and punctuation count at level 4 only. */
  readonly alternate: 'non-ignorable' | 'shifted';
  /** What `shifted` shifts: spaces, or punctuation too. */
  readonly maxVariable: 'punct' | 'space';
  /** Texts are decomposed and their marks ordered first. */
  readonly normalization: boolean;
  /** Accents count from the end (French of Canada). */
  readonly backwards: boolean;
}

const strengths = [1, 2, 3, 4, 5, 5] as const;

/** The settings that ICU's option bits of a table say. */
export function settingsOf(options: number): CollationSettings {
  const strength = (options >>> 12) & 15;
  return {
    strength: strength === 15 ? 5 : (strengths[strength] ?? 3),
    caseLevel: (options & 0x400) !== 0,
    caseFirst: (options & 0x200) === 0 ? 'off' : (options & 0x100) === 0 ? 'lower' : 'upper',
    numericOrdering: (options & 2) !== 0,
    alternate: (options & 0xc) === 0 ? 'non-ignorable' : 'shifted',
    maxVariable: (options & 0x70) === 0 ? 'space' : 'punct',
    normalization: (options & 1) !== 0,
    backwards: (options & 0x800) !== 0,
  };
}
