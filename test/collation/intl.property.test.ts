// Our order against the host's Intl.Collator, over random texts of many scripts, locales and settings. The data differs in version (ours is ICU 57, the
// host's is newer), so the alphabet here leaves out what CLDR moved since: characters newer than Unicode 8, and rare symbols. Locales left out,
// because CLDR has changed their rules since: am, as, fa, gu, hi, km, kn, lkt, mn, mt, or, pa, si, ta, te, ug, ur and those that came new.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Document } from '../../src/bson/index.ts';
import { parseCollation } from '../../src/collation/index.ts';
import type { CollationSettings } from '../../src/collation/settings.ts';

const letters = [
  ...Array.from('abcdefghijklmnoprstuvwxyzABCDZ'),
  ...Array.from('çéèêëñöÖäåæøßıİłđšžčǆőűâîșț'),
  ...Array.from('αβγδςσΣΩάабвгдеёжзийяЯіїґאבגدذرب'),
  ...Array.from('アァあぁカがハバパーゝ中文字漢国日本人一龍한국어가각힣กขเแ'),
  ...Array.from(' 0123456789-_.,;!?\'"()/@$'),
  '\u0301',
  '\u0302',
  '\u0323',
  '\u00ad',
  'ch',
  'll',
  'dz',
];
const locales = [
  ...['en', 'de', 'fr', 'fr_CA', 'sv', 'da', 'nb', 'fi', 'es', 'cs', 'sk', 'pl', 'hu', 'tr', 'az', 'ru', 'uk', 'bg', 'sr', 'el', 'ja', 'zh', 'zh_Hant', 'ko'],
  ...['th', 'vi', 'lt', 'lv', 'et', 'hr', 'sl', 'ar', 'he', 'ro', 'hy', 'ka', 'is', 'cy', 'eo', 'de@collation=phonebook', 'es@collation=traditional'],
];
const settings: readonly Partial<CollationSettings>[] = [
  {},
  { strength: 1 },
  { strength: 2 },
  { strength: 1, caseLevel: true },
  { numericOrdering: true },
  { caseFirst: 'upper' },
  { caseFirst: 'lower' },
  { alternate: 'shifted' },
  { alternate: 'shifted', strength: 1, numericOrdering: true },
];
const sensitivities = { 1: 'base', 2: 'accent', 3: 'variant', 4: 'variant', 5: 'variant' } as const;

/** The host's collator with the same settings. */
function hostCollator(locale: string, settled: CollationSettings): Intl.Collator {
  const [base = '', kind] = locale.split('@collation=');
  const types = new Map([['phonebook', 'phonebk'], ['traditional', 'trad']]);
  const tag = base.replace('_', '-') + (kind === undefined ? '' : `-u-co-${types.get(kind) ?? kind}`);
  return new Intl.Collator(tag, {
    sensitivity: settled.strength === 1 && settled.caseLevel ? 'case' : sensitivities[settled.strength],
    numeric: settled.numericOrdering,
    caseFirst: settled.caseFirst === 'off' ? 'false' : settled.caseFirst,
    ignorePunctuation: settled.alternate === 'shifted',
  });
}

test('texts have the order that Intl.Collator gives them', () => {
  const text = fc.array(fc.constantFrom(...letters), { maxLength: 8 }).map((parts) => parts.join(''));
  fc.assert(
    fc.property(fc.constantFrom(...locales), fc.constantFrom(...settings), fc.array(text, { minLength: 2, maxLength: 12 }), (locale, chosen, texts) => {
      // Intl normalizes always.
      const ours = parseCollation(Document.of({ locale, normalization: true, ...chosen }));
      assert.ok(ours !== undefined);
      const host = hostCollator(locale, ours.settings);
      for (const a of texts) for (const b of texts) assert.equal(Math.sign(ours.compare(a, b)), Math.sign(host.compare(a, b)), `${locale}: '${a}' and '${b}'`);
    }),
    { numRuns: Number(process.env['FROND_RUNS'] ?? 400) },
  );
});
