/** Text that people type and paste, as the service and its pages take it. */

/** Characters without a width or ink, and marks of the direction of writing. */
const INVISIBLE = /[\p{Cf}\p{Zl}\p{Zp}\u034F\u115F\u1160\u3164\uFFA0]/gu;
/** Stands for a letter that a program could not read. */
const UNREADABLE = '\uFFFD';
/** An ICCID, or a part of one, as it stands on a card or in a report: in groups, filled up with an F. */
const ICCID = /^\d[\d ]+f?$/i;
/** So that `5 F` or `10` are no ICCIDs. */
const ICCID_PART = 6;

/** An id of ours, however it was typed; a merchant’s reference such as `CUST-17` stays as it is. */
const OWN_ID = /^(?:[a-z]+-[\da-f]{32}|event-\d+)$/i;

/**
 * The text in composed letters, with single blanks and none around; the digits of an ICCID alone, our ids in
 * small letters.
 */
export function searchText(typed: string): string {
  const text = typed.normalize('NFC').replaceAll(INVISIBLE, '').replaceAll(/\s+/gu, ' ').trim();
  if (OWN_ID.test(text)) return text.toLowerCase();
  const digits = text.replaceAll(/[ f]/gi, '');
  return ICCID.test(text) && digits.length >= ICCID_PART ? digits : text;
}

/**
 * The first character, such as `U+200B`, that lets two names look the same, or one like another. Undefined
 * where there is none.
 */
export function deceivingCharacter(text: string): string | undefined {
  const found = Array.from(text).find((one) => one === UNREADABLE || one.replaceAll(INVISIBLE, '') === '');
  return found === undefined
    ? undefined
    : `U+${(found.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}

/** Small letters without accents: `Türkiye` is `turkiye`. */
export const plainText = (text: string): string =>
  text
    .normalize('NFKD')
    .replaceAll(/[\u0300-\u036F]/g, '')
    .replaceAll('’', "'")
    .toLowerCase();

/** Names of one country each, as catalogues and people write them. */
const COUNTRIES: readonly (readonly string[])[] = [
  ['turkey', 'turkiye'],
  ['ivory coast', "cote d'ivoire"],
  ['burma', 'myanmar'],
  ['swaziland', 'eswatini'],
  ['czech republic', 'czechia'],
  ['cape verde', 'cabo verde'],
  ['east timor', 'timor-leste'],
  ['holland', 'netherlands'],
  ['macau', 'macao'],
  ['vietnam', 'viet nam'],
  ['russia', 'russian federation'],
  ['united kingdom', 'great britain', 'england', 'uk'],
  ['united states', 'usa', 'america'],
  ['united arab emirates', 'uae', 'emirates'],
  ['south korea', 'korea, republic of', 'republic of korea'],
  ['congo (kinshasa)', 'democratic republic of the congo', 'congo-kinshasa', 'drc', 'dr congo'],
  ['congo (brazzaville)', 'republic of the congo', 'congo-brazzaville'],
  ['vatican', 'holy see'],
  ['macedonia', 'north macedonia'],
  ['laos', "lao people's democratic republic"],
  ['st. lucia', 'st lucia', 'saint lucia'],
  ['st. kitts', 'st kitts', 'saint kitts'],
  ['st. vincent', 'st vincent', 'saint vincent'],
];
/** From so many letters on, the beginning of a name stands for it. */
const BEGINNING = 4;

/** Whether `text` has `name` in it between other words, or is the beginning of it. */
function partNaming(text: string, name: string): string | undefined {
  if (new RegExp(`(^|[^a-z])${name.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`)}($|[^a-z])`).test(text))
    return name;
  return text.length >= BEGINNING && name.startsWith(text) ? text : undefined;
}

/** The text plainly, and once with each other name of a country that is named in it. */
export function spellings(typed: string): string[] {
  const text = plainText(typed);
  const others = COUNTRIES.flatMap((names) =>
    names.flatMap((name) => {
      const part = partNaming(text, name);
      return part === undefined ? [] : names.map((other) => text.replace(part, other));
    }),
  );
  return [...new Set([text, ...others])];
}

/**
 * Whether a text that people read holds what is searched for. Where it ends with another name than the
 * typed one, that is a whole word: `uk` is not the beginning of Ukraine.
 */
export function isFoundIn(text: string, search: string): boolean {
  const plain = plainText(text);
  const [typed = '', ...others] = spellings(searchText(search));
  const ends = (other: string) => COUNTRIES.flat().some((name) => other.endsWith(name));
  return (
    plain.includes(typed) ||
    others.some((other) => (ends(other) ? partNaming(plain, other) === other : plain.includes(other)))
  );
}
