// What a merchant sees of an attempt at its receiver.
import { afterAll, expect, it } from 'vitest';
import { newBuyer } from '../support/people/buyer.ts';
import { startStack } from '../support/world/stack.ts';
import { until } from '../support/time/until.ts';
import { startReceiver, type Listener } from '../support/people/webhook-receiver.ts';

const [stack, receiver] = await Promise.all([startStack(), startReceiver()]);
afterAll(async () => {
  await stack.close();
  await receiver.close();
});

const messagesOf = ({ endpointId }: Listener) =>
  stack.owner
    .selectFrom('webhook_messages')
    .selectAll()
    .where('endpoint_id', '=', endpointId)
    .orderBy('created_at')
    .execute();

it('an attempt shows its merchant the request and the answer, without secrets', async () => {
  const buyer = await newBuyer(stack);
  const key = buyer.account.apiKey;
  const listener = await receiver.listen(stack, buyer.account, {
    answer: (response) => {
      response.writeHead(503, {
        'Content-Type': 'text/plain',
        'X-Trace': 't'.repeat(500),
        'Set-Cookie': 'session=very-secret',
      });
      response.end('Sorry');
    },
  });
  await buyer.buy('SIM-OK');
  const [message] = await until(
    () => messagesOf(listener),
    (messages) => messages[0]?.attempts === 1,
    { what: 'a message that was tried' },
  );
  const path = `/api/webhooks/messages/${message!.id}`;
  const { body } = JSON.parse((await stack.call('GET', path, { key })).text) as { body: string };
  const reply = await stack.call('GET', `${path}/attempts`, { key });
  const [attempt] = (JSON.parse(reply.text) as { data: { items: [AttemptJson] } }).data.items;
  expect(attempt).toMatchObject({ outcome: 'answered', status: 503, answer: 'Sorry' });
  const received = listener.received[0]!;
  expect(attempt.request).toMatchObject({ method: 'POST', url: listener.url, body });
  const sent = Object.fromEntries(attempt.request.headers.map(({ name, value }) => [name, value]));
  expect(sent).toMatchObject({
    'content-type': 'application/json',
    'webhook-id': received.headers['webhook-id'],
    'webhook-timestamp': received.headers['webhook-timestamp'],
    'content-length': String(Buffer.byteLength(body)),
  });
  const signature = String(received.headers['webhook-signature']);
  expect(sent['webhook-signature']).toBe(`${signature.slice(0, 'v1,'.length + 8)}…`);
  const answered = Object.fromEntries(attempt.answerHeaders.map(({ name, value }) => [name, value]));
  expect(answered).toMatchObject({
    'content-type': 'text/plain',
    'x-trace': `${'t'.repeat(199)}…`,
    'set-cookie': '(hidden)',
  });
  expect(reply.text).not.toContain('very-secret');
  expect(reply.text).not.toContain(signature);
});

interface AttemptJson {
  readonly request: { readonly headers: readonly { readonly name: string; readonly value: string }[] };
  readonly answerHeaders: readonly { readonly name: string; readonly value: string }[];
}
