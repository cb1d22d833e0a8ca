/**
 * The e-mail to a traveller: what it says, and how often it is tried. It has the install link and never the
 * activation code.
 */
import { MINUTE_MS } from '../../domain/clock.ts';
import type { Environment } from '../../domain/account.ts';
import { senderName } from '../../accounts/sender-name.ts';
import { TEXTS, type Language } from '../../esims/install-texts/languages.ts';

export interface InstallEmail {
  /** Our name, and the merchant's: it is shown in quotes after ours, or not at all. */
  readonly us: string;
  readonly sender: string;
  readonly packageName: string;
  /** The merchant's name for it. */
  readonly reference: string;
  readonly url: string;
  /** Ends such mail to the traveller. */
  readonly stopUrl: string;
  readonly language: Language;
}

/**
 * What looks like the number of an order. Other references may be for the merchant's eyes, or lead elsewhere.
 */
const ORDER_NUMBER = /^[A-Za-z0-9#_-]{1,40}$/;

export function installEmailText(email: InstallEmail, environment: Environment) {
  const words = TEXTS[email.language].email;
  const { us, packageName: item } = email;
  const name = senderName(email.sender, us);
  const sender = name === undefined ? us : words.onBehalfOf(us, name);
  const isTest = environment === 'test';
  const lines = [
    words.sent(sender, item),
    ...(ORDER_NUMBER.test(email.reference) ? [words.reference(email.reference)] : []),
    '',
    words.open,
    email.url,
    '',
    words.personal,
    '',
    words.stop,
    email.stopUrl,
  ];
  return {
    subject: `${words.subject(item)}${isTest ? ' (test)' : ''}`,
    text: `${[...lines, ...(isTest ? ['', words.test] : [])].join('\n')}\n`,
  };
}

/** The last one repeats, so that an e-mail is sent within an hour of mail working again. */
const EMAIL_WAITS_MS: readonly number[] = [MINUTE_MS, 5 * MINUTE_MS, 15 * MINUTE_MS, 60 * MINUTE_MS];

/**
 * Longer than a weekend without a mail server. A server's refusal may be about the address or about us, so it
 * is retried as well.
 */
const GIVE_UP_AFTER_MS = 72 * 60 * MINUTE_MS;

/** The wait after this many attempts; undefined: given up. */
export function emailWaitMs(attempts: number, dueForMs: number): number | undefined {
  if (dueForMs >= GIVE_UP_AFTER_MS) return undefined;
  return EMAIL_WAITS_MS[Math.min(attempts, EMAIL_WAITS_MS.length) - 1] ?? MINUTE_MS;
}
