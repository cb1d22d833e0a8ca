// A merchant's program that may be killed at any moment: buys numbered orders with the SDK, sixteen at once,
// and keeps what it knows in a file of lines. It goes on where the file ends.
import { appendFileSync, readFileSync } from 'node:fs';
import { intend, Simway, SimwayError, type Intent } from '../../packages/sdk/src/index.ts';
import type { Known, Orders } from './orders.support.ts';

const AT_ONCE = 16;
const { baseUrl, apiKey, file, count } = JSON.parse(process.argv[2] ?? '') as Orders;
const simway = new Simway({ baseUrl, apiKey, deadlineMs: 4_000, attemptMs: 2_000 });

const note = (known: Known): void => appendFileSync(file, `${JSON.stringify(known)}\n`);
const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean);
const known = lines.map((line) => JSON.parse(line) as Known);
const intents = new Map(known.flatMap(({ order, intent }) => (intent ? [[order, intent]] : [])));
const ended = new Set(known.flatMap(({ order, intent }) => (intent ? [] : [order])));
const open = Array.from({ length: count }, (_, order) => order).filter((order) => !ended.has(order));

console.log('ready');
await Promise.all(
  Array.from({ length: AT_ONCE }, async () => {
    for (let order = open.shift(); order !== undefined; order = open.shift())
      note(await bought(order, intents.get(order) ?? intended(order)));
  }),
);

function intended(order: number): Intent<{ transactionId: string }> {
  const intent = intend('buy', {
    body: { packageCode: 'SIM-OK', packageType: 'BASE', paymentMethod: 'WALLET' },
  });
  note({ order, intent });
  return intent;
}

/** Sends it again for as long as its outcome is unknown. */
async function bought(order: number, intent: Intent<{ transactionId: string }>): Promise<Known> {
  try {
    const { transactionId } = await simway.send(intent);
    return { order, transactionId };
  } catch (error) {
    if (!(error instanceof SimwayError)) throw error;
    return error.intent ? bought(order, intent) : { order, refused: error.code };
  }
}
