import { Operations } from './generated/sdk.gen.ts';
import type { Client } from './generated/client/index.ts';

type Call<Name extends keyof Operations> = NonNullable<Parameters<Operations[Name]>[0]>;

/** What a call resolves to: the body of a success, as in the reference. */
export type Answer<Name extends keyof Operations> = NonNullable<Awaited<ReturnType<Operations[Name]>>>;

/** The calls that take an Idempotency-Key: every POST. */
export type Keyed = {
  [Name in keyof Operations]: 'Idempotency-Key' extends keyof NonNullable<Call<Name>['headers']>
    ? Name
    : never;
}[keyof Operations];

/** Simway knows an Idempotency-Key for 30 days; a day of it is left for clocks that differ. */
const SENDABLE_DAYS = 29;

/**
 * One intended POST as plain JSON. However often it is sent, by keys of one account and environment, it is
 * carried out once. After 29 days it is refused, because Simway forgets its key after 30.
 */
export interface Intent<Result = unknown> {
  readonly url: string;
  /** The Idempotency-Key: 1 to 255 printable characters. */
  readonly key: string;
  /** When it was made, in ISO 8601. */
  readonly createdAt: string;
  readonly path?: unknown;
  readonly body?: unknown;
  /** Never present: says what `simway.send` resolves to. */
  readonly result?: Result;
}

/**
 * An intent to store before `simway.send(intent)`, so that it survives a crash. Sends nothing.
 *
 *     const intent = intend('fundWallet', { body: { amount: 50.5, paymentMethod: 'CARD' } });
 *
 * `key` is the Idempotency-Key, such as your order's number; by default a new UUID.
 */
export function intend<Name extends Keyed>(
  name: Name,
  { key = crypto.randomUUID(), ...call }: Pick<Call<Name>, 'body' | 'path'> & { readonly key?: string },
): Intent<Answer<Name>> {
  const { url, path, body } = callOf(name, call);
  const createdAt = new Date().toISOString();
  return { url, key, createdAt, ...(path !== undefined && { path }), ...(body !== undefined && { body }) };
}

/** Whether its key may be forgotten, so that sending it could do it a second time. */
export const isTooOld = ({ createdAt }: Intent): boolean =>
  !(Date.now() - Date.parse(createdAt) < SENDABLE_DAYS * 24 * 3_600_000);

/** What the generated call would send. */
function callOf(name: Keyed, call: object): { url: string; path?: unknown; body?: unknown } {
  const post = (sent: object): object => sent;
  const operations = new Operations({ client: { post } as unknown as Client, key: 'intents' });
  return (operations[name] as (call: object) => unknown).call(operations, call) as { url: string };
}
