/** Passwords that guessers try first: on a list, also in a thin disguise, or by a simple rule. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const LIST = join(import.meta.dirname, 'common-passwords.txt');
/** Read at the first use: most processes never need it. */
let list: ReadonlySet<string> | undefined;

function isListed(text: string): boolean {
  list ??= new Set(
    readFileSync(LIST, 'utf8')
      .split('\n')
      .filter((line) => !line.startsWith('#')),
  );
  return text !== '' && list.has(text);
}

/** Fewer different characters than this are a pattern, whatever their number. */
const MIN_DIFFERENT_CHARACTERS = 5;
/** Beside the person's own name. */
const MIN_OTHER_LETTERS = 4;
const MIN_NAME_LETTERS = 3;

const ROWS = [
  '1234567890',
  'abcdefghijklmnopqrstuvwxyz',
  'qwertyuiopasdfghjklzxcvbnm',
  'qwertzuiopasdfghjklyxcvbnm',
  'azertyuiopqsdfghjklmwxcvbn',
  '1q2w3e4r5t6y7u8i9o0p',
  'q1w2e3r4t5y6u7i8o9p0',
  '1qaz2wsx3edc4rfv5tgb6yhn7ujm8ik9ol0p',
];

/** `1` stands for two letters. */
const DISGUISES = [
  { '0': 'o', '1': 'i', '3': 'e', '4': 'a', '5': 's', '7': 't', '@': 'a', $: 's', '!': 'i' },
  { '0': 'o', '1': 'l', '3': 'e', '4': 'a', '5': 's', '7': 't', '@': 'a', $: 's', '!': 'l' },
] as const satisfies readonly Readonly<Record<string, string>>[];

export const MIN_PASSWORD_CHARACTERS = 12;

interface Person {
  readonly email: string;
  readonly name: string;
}

/**
 * What a password must be, as the end of "must …"; undefined where it is taken. Length counts, and not being
 * known to guessers: rules about kinds of characters lead to worse passwords.
 */
export function weakness(password: string, person: Person): string | undefined {
  if (password.length < MIN_PASSWORD_CHARACTERS) return `have at least ${MIN_PASSWORD_CHARACTERS} characters`;
  const weak = weaknessOf(password, person);
  return weak && `not ${weak}`;
}

/** As the end of "must not …"; undefined where it is not easy to guess. */
export function weaknessOf(password: string, person: Person): string | undefined {
  const plain = password.normalize('NFKC').toLowerCase();
  if (isCommon(plain)) return 'be a common password, also with digits or symbols added';
  if (isPattern(plain)) return 'be a repetition or a row of keys';
  return isOwnName(plain, person) ? 'be made of your name or e-mail address' : undefined;
}

function isCommon(plain: string): boolean {
  const cores = [plain, withoutEnds(plain), plain.replace(/\P{L}+$/u, ''), lettersOf(plain)];
  return cores.some((core) => [core, ...undisguised(core)].some((text) => isListed(unitOf(text))));
}

const withoutEnds = (text: string): string => text.replace(/^\P{L}+|\P{L}+$/gu, '');
const lettersOf = (text: string): string => text.replaceAll(/\P{L}/gu, '');
const undisguised = (text: string): string[] =>
  DISGUISES.map((letters: Readonly<Record<string, string>>) =>
    Array.from(text, (character) => letters[character] ?? character).join(''),
  );

/** What the text repeats; the text itself where it repeats nothing. */
const unitOf = (text: string): string => /^(.+?)\1+$/s.exec(text)?.[1] ?? text;

function isPattern(plain: string): boolean {
  const backwards = Array.from(plain).toReversed().join('');
  const isRow = ROWS.some((row) => [plain, backwards].some((text) => row.repeat(text.length).includes(text)));
  return isRow || unitOf(plain) !== plain || new Set(plain).size < MIN_DIFFERENT_CHARACTERS;
}

/** Little is left beside the words of the person's name and address, or a common password. */
function isOwnName(plain: string, { email, name }: Person): boolean {
  const words = `${email} ${name} simway`
    .normalize('NFKC')
    .toLowerCase()
    .split(/\P{L}+/u);
  const longestFirst = words
    .filter((word) => word.length >= MIN_NAME_LETTERS)
    .toSorted((one, other) => other.length - one.length);
  const letters = lettersOf(plain);
  const rest = longestFirst.reduce((left, word) => left.replaceAll(word, ''), letters);
  return rest !== letters && (rest.length < MIN_OTHER_LETTERS || isListed(rest));
}
