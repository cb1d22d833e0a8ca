/** The e-mail about a disabled endpoint, word for word. */
import { describe, expect, it } from 'vitest';
import { noticeText, type Notice } from '../../src/webhooks/rules.ts';

describe('endpoint-disabled', () => {
  const failing: Notice['facts'] = {
    endpointId: 'ep-1',
    host: 'm.example',
    reason: 'FAILING',
    failingSince: '2026-11-16T09:00:00.000Z',
    disabledAt: '2026-11-21T09:00:00.000Z',
  };

  it('for a failing endpoint says since when, what is kept, and how to get it', () => {
    expect(noticeText({ kind: 'endpoint-disabled', facts: failing }, 'live')).toEqual({
      subject: 'Webhook endpoint disabled: m.example (live)',
      text: `We have stopped sending webhooks to one of your endpoints.

Endpoint:    ep-1
Host:        m.example
Environment: live
Disabled:    2026-11-21T09:00:00.000Z
Why:         FAILING. Every message to it has failed since 2026-11-16T09:00:00.000Z.

New events are stored for it, so that nothing is lost: they can be sent later.

Once your receiver works again, with your API key:

1. PATCH /api/webhooks/endpoints/ep-1 with {"enabled": true}
2. POST /api/webhooks/endpoints/ep-1/recover with {"from": "2026-11-16T09:00:00.000Z"}, at most 14 days back

GET /api/webhooks/messages?endpointId=ep-1 lists what was sent there, with every attempt and its answer.
`,
    });
  });

  it('for an endpoint that is gone says that nothing is kept from now on', () => {
    const facts = { ...failing, reason: 'GONE', failingSince: null } as const;
    const { subject, text } = noticeText({ kind: 'endpoint-disabled', facts }, 'test');
    expect(subject).toBe('Webhook endpoint disabled: m.example (test)');
    expect(text).toContain(
      '\nWhy:         GONE. It answered 410 Gone, which asks us to send nothing more.\n',
    );
    expect(text).toContain(
      '\nEvents from now on are not kept for it; what had failed before can be sent again.\n',
    );
    expect(text).toContain('recover with {"from": "2026-11-21T09:00:00.000Z"}');
  });

  it('for an unknown first failure counts from the time of disabling', () => {
    const facts = { ...failing, failingSince: null };
    const { text } = noticeText({ kind: 'endpoint-disabled', facts }, 'live');
    expect(text).toContain('Every message to it has failed since 2026-11-21T09:00:00.000Z.');
  });
});
