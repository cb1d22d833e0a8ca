import { MINUTE_MS } from '../domain/clock.ts';
import type { Environment } from '../domain/account.ts';

/** The wait after each attempt; the last one repeats, so that a notice is sent within an hour of mail working again. */
const NOTICE_WAITS_MS: readonly number[] = [MINUTE_MS, 5 * MINUTE_MS, 15 * MINUTE_MS, 60 * MINUTE_MS];

/** Sent or not; as long as messages to endpoints. */
export const KEEP_NOTICES_MS = 30 * 24 * 60 * MINUTE_MS;

export function noticeWaitMs(attempts: number): number {
  return NOTICE_WAITS_MS[Math.min(attempts, NOTICE_WAITS_MS.length) - 1] ?? MINUTE_MS;
}

/**
 * An e-mail to an account's owner; times are ISO 8601. The facts must hold no secret and nothing that may contain one: of a URL only its host.
 */
export interface Notice {
  readonly kind: 'endpoint-disabled';
  readonly facts: {
    readonly endpointId: string;
    readonly host: string;
    readonly reason: 'GONE' | 'FAILING';
    /** The first failure since the last success; null: it had not failed before. */
    readonly failingSince: string | null;
    readonly disabledAt: string;
  };
}

export function noticeText({ facts }: Notice, environment: Environment): { subject: string; text: string } {
  const { endpointId, host, reason, failingSince, disabledAt } = facts;
  const path = `/api/webhooks/endpoints/${endpointId}`;
  const why =
    reason === 'GONE'
      ? 'It answered 410 Gone, which asks us to send nothing more.'
      : `Every message to it has failed since ${failingSince ?? disabledAt}.`;
  const missed =
    reason === 'GONE'
      ? 'Events from now on are not kept for it; what had failed before can be sent again.'
      : 'New events are stored for it, so that nothing is lost: they can be sent later.';
  return {
    subject: `Webhook endpoint disabled: ${host} (${environment})`,
    text: `${[
      'We have stopped sending webhooks to one of your endpoints.',
      '',
      `Endpoint:    ${endpointId}`,
      `Host:        ${host}`,
      `Environment: ${environment}`,
      `Disabled:    ${disabledAt}`,
      `Why:         ${reason}. ${why}`,
      '',
      missed,
      '',
      'Once your receiver works again, with your API key:',
      '',
      `1. PATCH ${path} with {"enabled": true}`,
      `2. POST ${path}/recover with {"from": "${failingSince ?? disabledAt}"}, at most 14 days back`,
      '',
      `GET /api/webhooks/messages?endpointId=${endpointId} lists what was sent there, with every attempt and its answer.`,
    ].join('\n')}\n`,
  };
}
