// A dump of all our tables after purchases, top-ups, repeats, reads and messages that receivers send back:
// nothing in it can install an eSIM.
import { afterAll, beforeAll, expect, it } from 'vitest';
import pg from 'pg';
import { newBuyer } from '../support/people/buyer.ts';
import { atGateway, buyThroughGateway, untilStatus } from '../support/money/payments.ts';
import { startStack, type Stack } from '../support/world/stack.ts';
import { until } from '../support/time/until.ts';
import { startReceiver, type Receiver } from '../support/people/webhook-receiver.ts';

let stack: Stack;
let receiver: Receiver;
beforeAll(async () => {
  stack = await startStack();
  receiver = await startReceiver();
});
afterAll(async () => {
  await stack.close();
  await receiver.close();
});

/** Every row of every table as text, and every text and blob decoded; by table. */
async function dump(): Promise<Map<string, string>> {
  const client = new pg.Client({ connectionString: stack.databaseUrl });
  await client.connect();
  try {
    const { rows: tables } = await client.query<{ name: string }>(
      `select format('%I.%I', table_schema, table_name) as name from information_schema.tables
        where table_schema in ('accounts', 'test', 'live') and table_type = 'BASE TABLE'`,
    );
    const found = new Map<string, string>();
    for (const { name } of tables) {
      const { rows } = await client.query<Record<string, unknown>>(`select * from ${name}`);
      found.set(
        name,
        rows
          .flatMap((row) => Object.values(row))
          .map(asText)
          .join('\n'),
      );
    }
    return found;
  } finally {
    await client.end();
  }
}

function asText(value: unknown): string {
  if (Buffer.isBuffer(value)) return value.toString('latin1');
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** As it is, as JSON escapes it, and in the two usual encodings of bytes. */
function isIn(text: string, secret: string): boolean {
  const bytes = Buffer.from(secret);
  const forms = [secret, secret.replaceAll('/', '\\/'), bytes.toString('hex'), bytes.toString('base64')];
  return forms.some((form) => text.includes(form));
}

/** PINs have four digits, as prices do: one PIN found proves nothing, all PINs found in one table do. */
const holdsEvery = (text: string, pins: string[]) =>
  pins.every((pin) => new RegExp(`(^|["\n])${pin}($|["\n])`).test(text));

it('a dump of every table holds no activation code, PIN, PUK or address of a QR code', async () => {
  const buyer = await newBuyer(stack);
  const shop = await receiver.listen(stack, buyer.account, {
    answer: (response, { body }) => void response.writeHead(200).end(`thank you for ${body}`),
  });
  const first = await buyer.buy('SIM-OK', { idempotencyKey: 'first' });
  const again = await buyer.buy('SIM-OK', { idempotencyKey: 'first' });
  expect(again.text).toBe(first.text);
  const active = await buyer.activeEsim();
  const topUp = await buyer.buy('TOPUP_SIM-OK', { esimId: active.esimId, idempotencyKey: 'top-up' });
  expect(topUp.body.status).toBe('SUCCESS');
  const byCard = await buyThroughGateway(stack, buyer.account);
  await atGateway(stack, byCard.reference, 'pay');
  await untilStatus(stack, byCard.transactionId, 'SUCCESS');
  await shop.untilReceived(5);
  const delivered = () => stack.owner.selectFrom('webhook_messages').select(['id', 'status']).execute();
  const messages = await until(delivered, (all) => all.every(({ status }) => status === 'DELIVERED'), {
    what: 'every message delivered',
  });

  const listed = await buyer.read('/api/esim/my-esims');
  const { esims } = JSON.parse(listed.text) as { esims: { _id: string; qrCodeUrl: string }[] };
  expect(esims).toHaveLength(3);
  const secrets: string[] = [];
  const pins: string[] = [];
  for (const { _id: id, qrCodeUrl } of esims) {
    const esim = JSON.parse((await buyer.read(`/api/esim/${id}`)).text) as Record<string, string>;
    expect(esim['qrCodeUrl']).toBe(qrCodeUrl);
    expect(esim['activationCode']).toBe(`LPA:1$${esim['smdpAddress']}$${esim['matchingId']}`);
    for (const field of ['activationCode', 'matchingId', 'qrCodeUrl', 'shortUrl', 'puk'])
      secrets.push(esim[field] ?? '');
    pins.push(esim['pin'] ?? '');
    // Merchants still get what the rows hide.
    expect(shop.received.map(({ body }) => body).join()).toContain(JSON.stringify(qrCodeUrl));
  }
  expect(secrets.every((secret) => secret.length > 3)).toBe(true);
  expect(pins.every((pin) => /^\d{4}$/.test(pin))).toBe(true);
  const bodies = await Promise.all(messages.map(({ id }) => buyer.read(`/api/webhooks/messages/${id}`)));
  for (const { text } of bodies) expect(text).not.toContain('u0001');
  expect(bodies.filter(({ text }) => secrets.some((secret) => text.includes(secret)))).not.toEqual([]);

  const tables = await dump();
  expect(tables.get('test.esims')).toContain(active.iccid);
  const leaks = [...tables].flatMap(([table, text]) =>
    [...new Set(secrets)].filter((secret) => isIn(text, secret)).map((secret) => `${table}: ${secret}`),
  );
  expect(leaks).toEqual([]);
  expect([...tables].filter(([, text]) => holdsEvery(text, pins)).map(([table]) => table)).toEqual([]);
});
