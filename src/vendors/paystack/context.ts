/**
 * What the calls of this adapter share: the client, the mode, the alert for words never seen before, and how an answer about the wrong
 * thing is kept from passing for the right one.
 */
import type { GatewayOutcome } from '../../payments/port.ts';
import type { Answer, Client } from './client.ts';
import { meaningOf } from './codes.ts';
import { effectFailure, unknown } from './map.ts';

/** What an account's money is. */
export type Mode = 'live' | 'test';

/** A word of the vendor that this adapter has never seen, or an answer it cannot read. Holds nothing personal. */
export interface UnseenWord {
  readonly what: 'charge status' | 'refund status' | 'error' | 'answer';
  /** The call that it was met in. */
  readonly operation: string;
  readonly word: string;
}

/** Told about every unseen word; must not throw. */
export type OnUnknown = (unseen: UnseenWord) => void;

export interface Context {
  readonly client: Client;
  readonly mode: Mode;
  readonly onUnknown: OnUnknown;
}

/** Whether an answer names the other mode than ours; one that names none is taken for ours. */
export function isOtherMode(domain: string, mode: Mode): boolean {
  return domain !== '' && domain !== mode;
}

/** Throws for an answer of the other mode. */
export function requireMode({ mode }: Context, domain: string): void {
  if (isOtherMode(domain, mode)) throw new Error('the answer is of the other mode');
}

/** Throws for an answer about another charge than the one asked for: it proves nothing about ours. */
export function requireSameReference(wanted: string, answered: string): void {
  if (answered !== wanted) throw new Error('the answer is about another reference');
}

/** Raises the alert when a status led to the state "unknown". */
export function alertIfUnseen(
  { onUnknown }: Context,
  found: { readonly what: 'charge status' | 'refund status'; readonly operation: string },
  look: { readonly state: string; readonly gatewayStatus: string },
): void {
  if (look.state === 'unknown') onUnknown({ ...found, word: look.gatewayStatus.slice(0, 40) });
}

/** The outcome read from a yes; a yes that cannot be read, or is about something else, is unknown and alerts. */
export function readYes<T>(
  { onUnknown }: Context,
  operation: string,
  read: () => GatewayOutcome<T>,
): GatewayOutcome<T> {
  try {
    return read();
  } catch (error) {
    const reason = (error as Error).message;
    onUnknown({ what: 'answer', operation, word: reason });
    return unknown(`unreadable yes: ${reason}`);
  }
}

/** What a failed effect means, with an alert for an error never seen before. */
export function failedEffect<T>(
  { onUnknown }: Context,
  operation: string,
  answer: Exclude<Answer, { kind: 'answered' }>,
): GatewayOutcome<T> {
  if (answer.kind === 'failed' && meaningOf(answer).kind === 'unseen') {
    const word = answer.code || answer.category || `HTTP ${answer.httpStatus}`;
    onUnknown({ what: 'error', operation, word: word.slice(0, 40) });
  }
  return effectFailure(answer);
}
