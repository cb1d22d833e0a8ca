/**
 * `node bench/fairness.ts [options]`: what one merchant waits for while another sends without end, and what
 * he waits for alone. Of purchases, from the request to the eSIM; with `--messages`, from the answer of a
 * purchase to its message.
 *
 *   --purchases N    how many the other sends (10000), `--clients` (50) at a time
 *   --messages N     instead: how many messages of the other are due at once
 *   --every MS       between two purchases of the one (500)
 *   --allowance N    requests a second that the supplier takes (no limit)
 *   --supplier-ms MS that the supplier thinks about each (0)
 *   --server KIND    Temporal: embedded (default), or as it is deployed: postgres
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { sql } from 'kysely';
import { Agent, request } from 'undici';
import { readDevSettings } from '../src/app/config/config.ts';
import { createApiClient, type EndpointJson } from '../src/cli/webhooks-client.ts';
import { paced } from './support/load.ts';
import { quantile } from './support/rounds.ts';
import { startServers, temporalKindOf } from './support/servers.ts';
import { startService, type Service } from './support/service.ts';

const WARM_UP_MS = 15_000;
const ALONE_MS = 60_000;
const SLICE_MS = 5_000;
/** The longest purchase that still counts; a client would have given up. */
const LONGEST_MS = 60_000;
const BODY = JSON.stringify({ packageCode: 'SIM-OK', packageType: 'BASE', paymentMethod: 'WALLET' });

const { values } = parseArgs({
  options: {
    purchases: { type: 'string', default: '10000' },
    clients: { type: 'string', default: '50' },
    messages: { type: 'string' },
    every: { type: 'string', default: '500' },
    allowance: { type: 'string' },
    'supplier-ms': { type: 'string', default: '0' },
    server: { type: 'string', default: 'embedded' },
  },
});

type Buyer = ReturnType<typeof buyerOf>;
/** Answers how many milliseconds it took. */
type Once = () => Promise<number>;

async function main(): Promise<void> {
  const say = (line: string): void => void process.stderr.write(`${line}\n`);
  const log = { info: say, warn: say };
  const kind = { temporal: temporalKindOf(values.server), redis: true, codec: false };
  const servers = await startServers({ settings: readDevSettings(), ...kind, log });
  try {
    const env: Record<string, string> = {};
    if (values.allowance !== undefined) env['SIMWAY_TEST_SUPPLIER_REQUESTS_PER_SECOND'] = values.allowance;
    const service = await startService(servers, { log }, { env });
    const latencyMs = Number(values['supplier-ms']);
    const body = JSON.stringify({ latencyMs });
    await request(`${service.supplierControlUrl}/faults`, { method: 'PUT', body });
    const other = buyerOf(service, await service.account());
    const heavy = buyerOf(service, await service.account());
    const { once, flood } =
      values.messages === undefined
        ? { once: other.buy, flood: () => heavy.buyAll(Number(values.purchases), Number(values.clients)) }
        : await withMessages(service, { other, heavy }, Number(values.messages));
    process.stdout.write(`${JSON.stringify(await compare(once, flood), null, 2)}\n`);
  } finally {
    await servers.close();
  }
}

async function compare(once: Once, flood: () => Promise<unknown>) {
  await timesOf(once, WARM_UP_MS);
  const alone = await timesOf(once, ALONE_MS);
  const beside: number[] = [];
  const over = new AbortController();
  const flooding = flood().finally(() => over.abort());
  while (!over.signal.aborted) beside.push(...(await timesOf(once, SLICE_MS)));
  const flooded = await flooding;
  const [before, during] = [figuresOf(alone), figuresOf(beside)];
  return { alone: before, beside: during, times: (during.p95Ms / before.p95Ms).toFixed(2), flood: flooded };
}

/** Throws if any of them failed. */
async function timesOf(once: Once, forMs: number): Promise<number[]> {
  const times: number[] = [];
  const note = async (): Promise<void> => void times.push(await once());
  const { failed, firstFailure } = await paced(note, { perSecond: 1_000 / Number(values.every), forMs });
  if (failed > 0) throw new Error(`${failed} failed`, { cause: firstFailure });
  return times;
}

const figuresOf = (times: readonly number[]) => ({
  count: times.length,
  p50Ms: Math.round(quantile(times, 0.5)),
  p95Ms: Math.round(quantile(times, 0.95)),
  maxMs: Math.round(Math.max(...times)),
});

function buyerOf({ apiUrl }: Service, { accountId, apiKey }: { accountId: string; apiKey: string }) {
  const dispatcher = new Agent({ connections: null });
  const headers = { 'Content-Type': 'application/json', 'X-API-Key': apiKey };
  const post = async () => {
    const at = new URL('/api/esim/buy', apiUrl);
    const sent = await request(at, { method: 'POST', body: BODY, headers, dispatcher });
    const body = (await sent.body.json()) as { status?: string; transactionId?: string };
    return { code: sent.statusCode, body, retryAfterS: Number(sent.headers['retry-after'] ?? 1) };
  };
  const statusOf = async (transactionId: string): Promise<string | undefined> => {
    const at = new URL(`/api/esim/transactions/${transactionId}`, apiUrl);
    const { body } = await request(at, { headers, dispatcher });
    return ((await body.json()) as { status?: string }).status;
  };
  /** Its id, once its eSIM is there. */
  const bought = async (): Promise<string> => {
    const endsAtMs = performance.now() + LONGEST_MS;
    const { code, body } = await post();
    if (code !== 201 || body.transactionId === undefined)
      throw new Error(`a purchase answered ${code}: ${JSON.stringify(body)}`);
    for (let { status } = body; status !== 'SUCCESS'; status = await statusOf(body.transactionId)) {
      if (performance.now() > endsAtMs) throw new Error('not delivered within a minute');
      await sleep(100);
    }
    return body.transactionId;
  };
  return {
    accountId,
    apiKey,
    bought,
    buy: async (): Promise<number> => {
      const startedAtMs = performance.now();
      await bought();
      return performance.now() - startedAtMs;
    },
    /** So many purchases; one that is refused for now is sent again. Answers what was answered how often. */
    buyAll: async (purchases: number, clients: number) => {
      const startedAtMs = performance.now();
      const answers: Record<number, number> = {};
      let next = 0;
      const client = async (): Promise<void> => {
        while (next++ < purchases) {
          for (;;) {
            const { code, retryAfterS } = await post();
            answers[code] = (answers[code] ?? 0) + 1;
            if (code !== 429 && code !== 503) break;
            await sleep(retryAfterS * 1_000);
          }
        }
      };
      await Promise.all(Array.from({ length: clients }, client));
      return { seconds: Math.round((performance.now() - startedAtMs) / 1_000), answers };
    },
  };
}

/** Both merchants listen; the flood is due at once. */
async function withMessages(
  service: Service,
  { other, heavy }: Record<'other' | 'heavy', Buyer>,
  count: number,
) {
  const arrivals = new Map<string, PromiseWithResolvers<number>>();
  const arrivalOf = (transactionId: string): PromiseWithResolvers<number> => {
    const known = arrivals.get(transactionId) ?? Promise.withResolvers<number>();
    arrivals.set(transactionId, known);
    return known;
  };
  let floodCame = 0;
  const server = createServer((incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      response.end();
      if (incoming.url === '/heavy') floodCame += 1;
      else {
        const { data } = JSON.parse(Buffer.concat(chunks).toString()) as { data: { transactionId: string } };
        arrivalOf(data.transactionId).resolve(performance.now());
      }
    });
  }).unref();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const listen = async ({ apiKey }: Buyer, path: string): Promise<string> => {
    const client = createApiClient({ apiUrl: service.apiUrl, key: apiKey });
    const { id } = await client.call<EndpointJson>('POST', '/api/webhooks/endpoints', { url: url + path });
    return id;
  };
  await listen(other, '/other');
  const endpointId = await listen(heavy, '/heavy');
  return {
    once: async (): Promise<number> => {
      const transactionId = await other.bought();
      const answeredAtMs = performance.now();
      return Math.max(0, (await arrivalOf(transactionId).promise) - answeredAtMs);
    },
    flood: async () => {
      const startedAtMs = performance.now();
      await sql`
        insert into webhook_messages (id, endpoint_id, account_id, event, event_key, body, status, next_attempt_at)
        select 'msg-' || replace(gen_random_uuid()::text, '-', ''), ${endpointId}, ${heavy.accountId},
               'esim.purchased', gen_random_uuid(), '{}', 'PENDING', now()
          from generate_series(1, ${count}::int)`.execute(service.owner);
      while (floodCame < count) await sleep(200);
      return { seconds: Math.round((performance.now() - startedAtMs) / 1_000), came: floodCame };
    },
  };
}

await main();
