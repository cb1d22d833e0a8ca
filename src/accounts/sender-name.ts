/**
 * How an account is named in mail to people who are not our users. Anybody can open an account and choose its
 * name, so the name must not read as words of ours, nor hold a way to reach its maker.
 */

/** A longer one is a message, not a name. */
const MAX_SENDER_CHARACTERS = 60;
/** Room for a year or a street number; more could be an address, a telephone number or a code. */
const MAX_SENDER_DIGITS = 4;

/** Letters of any script, digits, and what companies write between them. */
const ALLOWED = /^[\p{L}\p{M}\p{Nd} &'’+,.()-]+$/u;
/** Mail programs make links of host names too. Some scripts write other dots than ours. */
const LINK =
  /:\/\/|@|[\p{L}\p{Nd}][.。・·•]\p{L}{2,}|(?:^|\P{L})(?:https?|hxxps?|www|dot|punto|ponto|point)(?:\P{L}|$)/iu;

/** undefined: a name that is not shown. `ours`: what no account may call itself. */
export function senderName(name: string, ours: string): string | undefined {
  const plain = name
    .normalize('NFKC')
    .replaceAll(/[\p{Default_Ignorable_Code_Point}\p{Cf}]/gu, '')
    .replaceAll(/\s+/gu, ' ')
    .trim();
  const digits = plain.match(/\p{Nd}/gu)?.length ?? 0;
  const letters = plain.toLowerCase().replaceAll(/\P{L}/gu, '');
  const isName =
    ALLOWED.test(plain) &&
    !LINK.test(plain) &&
    plain.length <= MAX_SENDER_CHARACTERS &&
    digits <= MAX_SENDER_DIGITS &&
    !letters.includes(ours.toLowerCase());
  return isName ? plain : undefined;
}

/** The brand as a name: our own words begin with it. */
export const nameOfBrand = (brand: string): string => brand.charAt(0).toUpperCase() + brand.slice(1);
