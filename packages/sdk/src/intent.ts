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
  /** The Idempotency-Key: 1 to 255 printable ASCII characters. */
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

/** Throws a TypeError for what cannot be an intent. Without types nothing else stops it. */
export function assertIntent(given: unknown): asserts given is Intent {
  const { url, key, createdAt } = Object(given) as Readonly<Record<string, unknown>>;
  const missing = Object.entries({ url, key, createdAt }).flatMap(([name, value]) =>
    typeof value === 'string' && value !== '' ? [] : [name],
  );
  if (missing.length > 0)
    throw new TypeError(
      `This is no intent, so it was not sent: it has no ${missing.join(', ')}. Send what intend() made, with all of its fields`,
    );
}

/** What the generated call would send. Throws a TypeError where there is none, or it is no POST. */
function callOf(name: Keyed, call: object): { url: string; path?: unknown; body?: unknown } {
  if (!Object.hasOwn(Operations.prototype, name)) throw new TypeError(`No such operation: ${name}`);
  const post = (sent: object): object => sent;
  const other = (): never => {
    throw new TypeError(`${name} is no POST, so it has no intent: call it`);
  };
  const client = { post, get: other, put: other, patch: other, delete: other } as unknown as Client;
  const operations = new Operations({ client, key: 'intents' });
  return (operations[name] as (call: object) => unknown).call(operations, call) as { url: string };
}
