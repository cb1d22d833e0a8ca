/**
 * Promise W1: our signatures verify with the unmodified package of the standard; no bit of id, timestamp or
 * body can be changed; and while a secret is being replaced, receivers with the old and with the new one both
 * accept them.
 */
import { randomBytes } from 'node:crypto';
import { Webhook, WebhookVerificationError } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { createNetwork } from '../../src/platform/outbound/network.ts';
import { createWebhookSender } from '../../src/platform/outbound/webhook-sender.ts';
import { webhookHeaders } from '../../src/platform/outbound/webhook-sender.ts';
import { sampleBody } from '../../src/webhooks/event-samples.ts';
import { WEBHOOK_EVENTS } from '../../src/webhooks/events.ts';
import { startAnsweringServer } from '../support/vendors/answering-server.ts';
import { createRandom, size, withSeed, type Random } from '../support/time/size.ts';
import { clock } from './outbound.support.ts';

const newSecret = (): string => `whsec_${randomBytes(24).toString('base64')}`;
const [OLD, NEW, OTHER] = [newSecret(), newSecret(), newSecret()];

type Signed = ReturnType<typeof signed>;

function signed(messageId: string, body: string, secrets: readonly string[]) {
  return { headers: webhookHeaders({ messageId, body, secrets }, new Date()), body: Buffer.from(body) };
}

function verifies(secret: string, { headers, body }: Signed): boolean {
  try {
    new Webhook(secret).verify(body, headers);
    return true;
  } catch (error) {
    if (error instanceof WebhookVerificationError) return false;
    throw error;
  }
}

const PARTS = ['webhook-id', 'webhook-timestamp', 'body'] as const;

/** The same message with one bit of one part flipped. */
function withBit(message: Signed, part: (typeof PARTS)[number], bit: number): Signed {
  const bytes = Buffer.from(part === 'body' ? message.body : Buffer.from(message.headers[part]!, 'latin1'));
  bytes[bit >> 3]! ^= 1 << (bit & 7);
  if (part === 'body') return { ...message, body: bytes };
  return { ...message, headers: { ...message.headers, [part]: bytes.toString('latin1') } };
}

function bitsOf(message: Signed, part: (typeof PARTS)[number]): number {
  return 8 * (part === 'body' ? message.body.length : message.headers[part]!.length);
}

function randomMessage(random: Random, secrets: readonly string[]): Signed {
  const body = sampleBody(random.pick(WEBHOOK_EVENTS), new Date(random.below(2 ** 41)));
  return signed(`msg-${random.below(2 ** 32).toString(16)}`, body, secrets);
}

describe('signatures', () => {
  it('of every delivery verify with the unmodified package, sent and received', () =>
    withSeed(async (seed) => {
      const random = createRandom(seed);
      const receiver = await startAnsweringServer();
      receiver.answerWith((response) => response.writeHead(204).end());
      const policy = { httpsOnly: false, allowedRanges: ['127.0.0.1'] };
      const sender = createWebhookSender({ policy, network: createNetwork(), clock });
      const deliveries = size({ ci: 100, prove: 10_000 });
      try {
        for (let sent = 0; sent < deliveries; sent += 1) {
          const body = sampleBody(random.pick(WEBHOOK_EVENTS), new Date(random.below(2 ** 41)));
          const outcome = await sender.send({
            url: receiver.baseUrl,
            messageId: `msg-${sent}`,
            body,
            secrets: [NEW],
          });
          expect(outcome).toMatchObject({ outcome: 'answered', status: 204 });
          const call = receiver.calls[sent]!;
          expect(new Webhook(NEW).verify(call.body, call.headers as Record<string, string>)).toEqual(
            JSON.parse(body),
          );
        }
        expect(receiver.calls).toHaveLength(deliveries);
        expect(new Set(receiver.calls.map(({ headers }) => headers['webhook-id'])).size).toBe(deliveries);
      } finally {
        await receiver.close();
      }
    }));

  it.each(PARTS)('fail with any one changed bit of the %s', (part) => {
    const message = signed('msg-0123456789abcdef', sampleBody('esim.purchased', new Date()), [NEW]);
    expect(verifies(NEW, message)).toBe(true);
    const survivors = Array.from({ length: bitsOf(message, part) }, (_, bit) => bit).filter((bit) =>
      verifies(NEW, withBit(message, part, bit)),
    );
    expect(survivors).toEqual([]);
  });

  it('of other messages fail too', () =>
    withSeed((seed) => {
      const random = createRandom(seed);
      for (let done = 0; done < size({ ci: 200, prove: 10_000 }); done += 1) {
        const message = randomMessage(random, [NEW]);
        const part = random.pick(PARTS);
        const bit = random.below(bitsOf(message, part));
        expect(verifies(NEW, withBit(message, part, bit)), `bit ${bit} of ${part}`).toBe(false);
      }
    }));

  it('fail for a message with anything added, removed, moved or exchanged', () => {
    const message = signed('msg-1', '{"a":1}', [NEW]);
    const other = signed('msg-2', '{"a":2}', [NEW]);
    const altered: readonly Signed[] = [
      { ...message, body: Buffer.from('{"a":1} ') },
      { ...message, body: Buffer.from('{"a":1') },
      { ...message, body: Buffer.from('') },
      { ...message, body: other.body },
      { ...message, headers: { ...message.headers, 'webhook-id': 'msg-2' } },
      { ...message, headers: { ...message.headers, 'webhook-id': 'msg-1.1' } },
      {
        ...message,
        headers: { ...message.headers, 'webhook-signature': other.headers['webhook-signature']! },
      },
      { ...message, headers: { ...message.headers, 'webhook-signature': '' } },
      {
        ...message,
        headers: {
          ...message.headers,
          'webhook-signature': message.headers['webhook-signature']!.replace('v1', 'v2'),
        },
      },
    ];
    expect(altered.map((one) => verifies(NEW, one))).toEqual(altered.map(() => false));
  });

  it('use the current time: the timestamp is the attempt’s, in whole seconds', () => {
    const headers = webhookHeaders(
      { messageId: 'msg-1', body: '{}', secrets: [NEW] },
      new Date(1_795_251_600_999),
    );
    expect(headers['webhook-timestamp']).toBe('1795251600');
    expect(() =>
      new Webhook(NEW).verify(
        '{}',
        webhookHeaders({ messageId: 'm', body: '{}', secrets: [NEW] }, new Date(0)),
      ),
    ).toThrow('too old');
  });
});

describe('while a secret is being replaced', () => {
  it('receivers with the old or the new one accept every delivery', () =>
    withSeed((seed) => {
      const random = createRandom(seed);
      for (let done = 0; done < size({ ci: 200, prove: 10_000 }); done += 1) {
        const message = randomMessage(random, [NEW, OLD]);
        expect(message.headers['webhook-signature']).toMatch(/^v1,\S{44} v1,\S{44}$/);
        expect([NEW, OLD, OTHER].map((secret) => verifies(secret, message))).toEqual([true, true, false]);
      }
    }));

  it('changed bits fail with both', () => {
    const message = signed('msg-1', '{"a":1}', [NEW, OLD]);
    for (const part of PARTS)
      for (let bit = 0; bit < bitsOf(message, part); bit += 1) {
        const changed = withBit(message, part, bit);
        expect([NEW, OLD].map((secret) => verifies(secret, changed))).toEqual([false, false]);
      }
  });

  it('before and after, exactly one secret signs', () => {
    const before = signed('msg-1', '{}', [OLD]);
    const after = signed('msg-1', '{}', [NEW]);
    expect([OLD, NEW].map((secret) => verifies(secret, before))).toEqual([true, false]);
    expect([OLD, NEW].map((secret) => verifies(secret, after))).toEqual([false, true]);
  });
});
