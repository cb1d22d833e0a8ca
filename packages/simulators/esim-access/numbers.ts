/** Order numbers and identifiers of a profile, in ranges (ICCID, IMSI 999, EID of nines) of no operator. */
import { digestHex } from '../kit/seeded.ts';

const MINUTE_MS = 60_000;
const SLOTS_PER_MINUTE = 10_000;

/** yyMMddHHmm (UTC) and 4 digits of the clock, so that a supplier whose data was wiped repeats none. */
export function createNumberSeries(last: string | undefined, offset: number): (nowMs: number) => string {
  let lastSlot = last ? slotOf(last) : -1;
  return (nowMs) => {
    const minute = Math.floor(nowMs / MINUTE_MS);
    const within = Math.floor(((nowMs % MINUTE_MS) / MINUTE_MS) * (SLOTS_PER_MINUTE - 1000)) + offset;
    lastSlot = Math.max(lastSlot + 1, minute * SLOTS_PER_MINUTE + within);
    const stamp = new Date(Math.floor(lastSlot / SLOTS_PER_MINUTE) * MINUTE_MS).toISOString();
    const digits = stamp.replaceAll(/\D/g, '').slice(2, 12);
    return `${digits}${String(lastSlot % SLOTS_PER_MINUTE).padStart(4, '0')}`;
  };
}

function slotOf(number: string): number {
  const [year, month, day, hour, minute] = [0, 2, 4, 6, 8].map((at) => Number(number.slice(at, at + 2)));
  const atMs = Date.UTC(2000 + (year ?? 0), (month ?? 1) - 1, day ?? 1, hour ?? 0, minute ?? 0);
  return (atMs / MINUTE_MS) * SLOTS_PER_MINUTE + Number(number.slice(10));
}

export function luhnDigit(digits: string): string {
  let sum = 0;
  for (let i = 0; i < digits.length; i += 1) {
    const digit = Number(digits[digits.length - 1 - i]);
    const weighted = i % 2 === 0 ? digit * 2 : digit;
    sum += weighted > 9 ? weighted - 9 : weighted;
  }
  return String((10 - (sum % 10)) % 10);
}

/** 20 digits: 89 (telecom), 999 (no country), the eSIM's 14-digit number, Luhn. */
export function iccidOf(esimTranNo: string): string {
  const body = `89999${esimTranNo}`;
  return `${body}${luhnDigit(body)}`;
}

/** 15 digits under the test network 999 99. */
export function imsiOf(esimTranNo: string): string {
  return `99999${esimTranNo.slice(-10)}`;
}

function decimalDigits(text: string, length: number): string {
  return (BigInt(`0x${digestHex(text)}`) % 10n ** BigInt(length)).toString().padStart(length, '0');
}

/** 32 digits, seen once the profile is installed. */
export function eidOf(esimTranNo: string): string {
  return `89999999${decimalDigits(`eid:${esimTranNo}`, 24)}`;
}

export function pinOf(esimTranNo: string): string {
  return decimalDigits(`pin:${esimTranNo}`, 4);
}

export function pukOf(esimTranNo: string): string {
  return decimalDigits(`puk:${esimTranNo}`, 8);
}

export function matchingIdOf(esimTranNo: string): string {
  return digestHex(`matching:${esimTranNo}`).slice(0, 32).toUpperCase();
}

export function qrNameOf(esimTranNo: string): string {
  return digestHex(`qr:${esimTranNo}`).slice(0, 32);
}

/** Time in an answer: `2026-09-27T19:29:36+0000`, without a colon in the offset. */
export function replyTime(atMs: number): string {
  return `${new Date(atMs).toISOString().slice(0, 19)}+0000`;
}

/** Time in a webhook: `2026-09-27T19:29:36Z`. */
export function webhookTime(atMs: number): string {
  return `${new Date(atMs).toISOString().slice(0, 19)}Z`;
}
