import { createClient, mergeHeaders, type Client } from './generated/client/index.ts';
import { Operations } from './generated/sdk.gen.ts';
import { liveKeyInBrowser, SimwayError, tooOld } from './error.ts';
import { assertIntent, isTooOld, type Answer, type Intent } from './intent.ts';
import { itemsOf, queryAfter, type Item, type Listing, type ListingCall, type Page } from './pages.ts';
import { sendSafely, type Sending } from './send.ts';

export interface SimwayOptions {
  /** Such as `simway_test_…`. Keep it on your servers. */
  readonly apiKey: string;
  /** Of the API, such as `https://api.example.com`. */
  readonly baseUrl: string;
  /** How long a call may take with all its repeats, in milliseconds. Default: 60,000. */
  readonly deadlineMs?: number;
  /** For one attempt, in milliseconds. Default: 15,000; the API answers a purchase within 8,000. */
  readonly attemptMs?: number;
  /** In place of the global `fetch`. */
  readonly fetch?: typeof fetch;
  /** A live key in a browser can be read by everyone who opens the page, so it is refused without this. */
  readonly allowLiveKeyInBrowser?: boolean;
}

/**
 * Every call of the API for a key, by the names of the reference. A call takes `{ body, path, query }`,
 * resolves to the body of the success and throws a SimwayError. GETs, and POSTs under their Idempotency-Key,
 * are repeated until they are answered or `deadlineMs` is over. The constructor throws a TypeError for a key
 * or an address that cannot be one.
 */
export class Simway extends Operations {
  constructor(options: SimwayOptions) {
    checkOptions(options);
    const isInBrowser = 'document' in globalThis;
    if (isInBrowser && options.apiKey.startsWith('simway_live_') && options.allowLiveKeyInBrowser !== true)
      throw new SimwayError(liveKeyInBrowser);
    super({ client: safeClient(options) });
  }

  /**
   * Carries out an intent once, however often it is sent, also by another process. Resolves to what the first
   * sending did. Throws a SimwayError: with `intent` while the outcome is unknown, without it if it was
   * refused. One that was made more than 29 days ago is not sent: INTENT_TOO_OLD. What is no intent is a
   * TypeError, and not sent.
   */
  async send<Result>(intent: Intent<Result>): Promise<Result> {
    assertIntent(intent);
    if (isTooOld(intent)) throw new SimwayError(tooOld(intent));
    const { url, key, path, body } = intent;
    const headers = { 'Content-Type': 'application/json', 'Idempotency-Key': key };
    const call = { url, headers, body, path: path as Record<string, unknown>, intent };
    return this.client.post<Result, unknown, true, 'data'>({
      ...call,
      responseStyle: 'data',
    }) as Promise<Result>;
  }

  /** The pages of a list, each as the call answers it: `simway.pages('listEvents', { query: { after } })`. */
  async *pages<Name extends Listing>(name: Name, call?: ListingCall<Name>): AsyncGenerator<Answer<Name>> {
    const list = this[name].bind(this) as unknown as (call: object) => Promise<Answer<Name> & Page>;
    let next: object | undefined = {};
    while (next) {
      const page: Answer<Name> & Page = await list({ ...call, query: { ...call?.query, ...next } });
      yield page;
      next = queryAfter(page);
    }
  }

  /** The items of all pages of a list: `for await (const esim of simway.each('listEsims'))`. */
  async *each<Name extends Listing>(name: Name, call?: ListingCall<Name>): AsyncGenerator<Item<Name>> {
    for await (const page of this.pages(name, call)) yield* itemsOf(page) as Item<Name>[];
  }
}

/** Throws at once, where a call would fail later with less to say. Names no value: a key is secret. */
function checkOptions({ apiKey, baseUrl }: { readonly apiKey: unknown; readonly baseUrl: unknown }): void {
  if (typeof apiKey !== 'string' || apiKey === '') throw new TypeError('apiKey is not set');
  // `fetch` takes blanks away, so a key with them would pass for another one before it is sent.
  if (!/^[!-~]+$/.test(apiKey)) throw new TypeError('apiKey has a blank or a character that no key has');
  if (typeof baseUrl !== 'string' || !/^https?:\/\/[^/?#]/i.test(baseUrl) || !URL.canParse(baseUrl))
    throw new TypeError('baseUrl must be an http or https address, such as https://api.example.com');
}

/** Every POST carries a key: the caller's, or a new one for this call and its repeats. */
function safeClient({ apiKey, baseUrl, ...options }: SimwayOptions): Client {
  const sending: Sending = {
    deadlineMs: options.deadlineMs ?? 60_000,
    attemptMs: options.attemptMs ?? 15_000,
    fetch: options.fetch ?? ((input, init) => globalThis.fetch(input, init)),
  };
  const client = createClient({
    baseUrl,
    headers: { 'X-API-Key': apiKey },
    throwOnError: true,
    // A redirected POST would become a GET.
    redirect: 'manual',
    fetch: (request) => sendSafely(request as Request, sending),
  });
  const post = ((call) => {
    const headers = mergeHeaders(call.headers);
    const given = headers.get('Idempotency-Key');
    const key = given ?? crypto.randomUUID();
    headers.set('Idempotency-Key', key);
    const { url, path, body } = call;
    const stored = 'intent' in call ? (call.intent as Intent) : undefined;
    const intent = stored ?? { url, key, createdAt: new Date().toISOString(), path, body };
    const keyed = { intent, isNew: given === null };
    return client.post({
      ...call,
      headers,
      fetch: (request) => sendSafely(request as Request, sending, keyed),
    });
  }) as Client['post'];
  return { ...client, post };
}
