/**
 * L2 with webhooks: purchases of merchants with an endpoint that answers at once, with a slow one and with
 * none. A purchase is answered before its message is on its way, so what a slice leaves to deliver is worked
 * off before the next side's turn, and counted.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { createApiClient, type EndpointJson } from '../../src/cli/webhooks-client.ts';
import type { Findings } from '../support/report.ts';
import { series, spreadOf, type Samples } from '../support/rounds.ts';
import type { Service } from '../support/service.ts';
import { findSaturation, measureSides, type Clients, type Way } from '../support/sides.ts';
import { startBuyer, type Buyer } from './buyer.ts';
import { deliveriesIn, type Deliveries } from './deliveries.ts';
import { largestHistory } from './history.ts';
import { startReceiver, type Receiver } from './receiver.ts';
import type { Run } from './run.ts';

const ENDPOINTS = '/api/webhooks/endpoints';
const LONGEST_SETTLING_MS = 30_000;
const CHECK_EVERY_MS = 250;

/** `buyer` buys for merchants without an endpoint. */
export async function compareWebhooks(run: Run): Promise<void> {
  const { servers, service, buyer, options, findings } = run;
  const receiver = await startReceiver();
  const deliveries = deliveriesIn({ address: service.temporalAddress, namespace: service.namespace });
  servers.onClose(() => Promise.all([receiver, deliveries].map((one) => one.close())));
  const quick = await quickWay(await startBuyer(servers, service), service, receiver, deliveries);
  const clients = await findSaturation({ quick }, options);
  const ways = {
    quick,
    slow: await slowWay(await startBuyer(servers, service), service, receiver, deliveries),
    without: { once: () => buyer.buy() },
  };
  const samples = await measureSides(ways, () => clients.quick, options);
  judge(findings, samples, clients);
  await measureHistory(findings, service, quick);
  await untilNone(() => quick.missing());
  const purchases = receiver.taken.size + quick.missing();
  const what = `messages that did not arrive, of ${purchases} purchases`;
  findings.count(what, 'count', quick.missing(), { atMost: 0 });
}

interface QuickWay extends Way {
  once(): Promise<string>;
  /** Purchases whose message has not come yet. */
  missing(): number;
}

async function quickWay(
  buyer: Buyer,
  service: Service,
  receiver: Receiver,
  deliveries: Deliveries,
): Promise<QuickWay> {
  await addEndpoints(buyer, service, receiver.quickUrl);
  let bought = 0;
  const missing = (): number => bought - receiver.taken.size;
  return {
    missing,
    once: async () => {
      const transactionId = await buyer.buy();
      bought += 1;
      return transactionId;
    },
    settle: async () => {
      const open = await untilNone(missing);
      await untilNone(() => deliveries.count());
      return { open };
    },
  };
}

async function slowWay(
  buyer: Buyer,
  service: Service,
  receiver: Receiver,
  deliveries: Deliveries,
): Promise<Way> {
  let endpoints = await addEndpoints(buyer, service, receiver.slowUrl);
  return {
    once: () => buyer.buy(),
    // Merchants this slow never catch up: what waits for them would come back during everybody's slices, more
    // of it each round. So it ends here. With new endpoints every slice begins as an outage does, unknown to
    // the worker as slow, which is when they cost most.
    settle: async () => {
      const open = await deliveries.count();
      await endpoints.remove();
      const hanging = await untilNone(() => receiver.hanging());
      await deliveries.terminate();
      endpoints = await addEndpoints(buyer, service, receiver.slowUrl);
      return { open, hanging };
    },
  };
}

/** One endpoint for each merchant, made as merchants make them. */
async function addEndpoints(
  buyer: Buyer,
  { apiUrl }: Service,
  url: string,
): Promise<{ remove(): Promise<unknown> }> {
  const endpoints = await Promise.all(
    buyer.apiKeys.map(async (key) => {
      const client = createApiClient({ apiUrl, key });
      const { id } = await client.call<EndpointJson>('POST', ENDPOINTS, { url });
      return { remove: () => client.call('DELETE', `${ENDPOINTS}/${id}`) };
    }),
  );
  return { remove: () => Promise.all(endpoints.map((endpoint) => endpoint.remove())) };
}

/** Waits until nothing is left, within reason; answers how much there was at first. */
async function untilNone(left: () => Promise<number> | number): Promise<number> {
  const endsAtMs = performance.now() + LONGEST_SETTLING_MS;
  const first = await left();
  for (let now = first; now > 0 && performance.now() < endsAtMs; now = await left())
    await sleep(CHECK_EVERY_MS);
  return first;
}

function judge(findings: Findings, samples: Samples, clients: Clients<'quick'>): void {
  const [rate, quick] = [{ unit: 'per second', samples, figure: 'rate' }, `${clients.quick} clients`];
  findings.compare({ ...rate, what: `purchases with a webhook endpoint, ${quick}`, ours: 'quick' }, [
    'without',
    'without an endpoint',
    { atLeast: 0.85 },
  ]);
  findings.compare({ ...rate, what: `purchases with a slow webhook endpoint, ${quick}`, ours: 'slow' }, [
    'quick',
    'with one that answers at once',
    { atLeast: 0.8 },
  ]);
  const what = 'processor time of a purchase and its message, all programs together';
  findings.compare({ what, unit: 'ms', samples, figure: 'cpuMs', ours: 'quick' }, [
    'without',
    'without an endpoint',
    { atMost: 1.15 },
  ]);
  const median = (side: string, figure: string): string =>
    spreadOf(series(samples, side, figure)).median.toFixed(0);
  findings.remarks.push(
    `still to deliver when a slice ended, medians: ${median('quick', 'open')} to quick endpoints; ${median('slow', 'open')} to slow ones, ` +
      `of which ${median('slow', 'hanging')} hung in an attempt`,
  );
}

async function measureHistory(
  findings: Findings,
  { temporalAddress: address, namespace }: Service,
  quick: QuickWay,
): Promise<void> {
  const ours = await largestHistory({ address, namespace }, () => quick.once());
  findings.count('history of a purchase with a webhook endpoint', 'events', ours.events);
  findings.count('history of a purchase with a webhook endpoint', 'bytes', ours.bytes);
  findings.remarks.push(`events of a purchase with a webhook endpoint: ${ours.types.join(', ')}`);
}
