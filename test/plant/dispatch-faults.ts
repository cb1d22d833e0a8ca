// Faults in messages that are sent from their rows: who leases them, in which turn, who carries them; and in
// the order of the feed.
import { type Fault, faultsIn } from './fault.ts';

export const DISPATCH_FAULTS: readonly Fault[] = [
  ...faultsIn('src/webhooks/store/deliveries.ts', 'test/webhooks/webhooks-dispatch.store.test.ts', {
    'two dispatchers send one message': [
      'update webhook_messages message set next_attempt_at = ${LEASED}\n        from free, webhook',
      'update webhook_messages message set next_attempt_at = now()\n        from free, webhook',
    ],
    'the dispatcher sends what a workflow carries': [
      "status = 'PENDING' and handed_over_at is null`",
      "status = 'PENDING'`",
    ],
    'one endpoint has all turns': ['order by due.turn, due.next_attempt_at', 'order by due.next_attempt_at'],
    'one endpoint has as much as there is': ['limit ${perEndpoint}', 'limit ${limit}'],
    'a turn begins anew where it should go on': [
      'and endpoint_id > ${after} order',
      "and endpoint_id > '' order",
    ],
    'a message fails although its endpoint is open again': [
      "of.or([of('enabled', '=', false), of('deleted_at', 'is not', null)])",
      "of.or([of('id', 'is not', null), of('deleted_at', 'is not', null)])",
    ],
    'each turn reads every message that waits': [
      'endpoint_id = endpoints.endpoint_id and next_attempt_at <= now()',
      'endpoint_id = endpoints.endpoint_id and next_attempt_at <= clock_timestamp()',
    ],
    'a delivered attempt is recorded over another one': [
      'and message.attempts = given.made_before and',
      'and',
    ],
    'an endpoint that takes messages still counts as failing': [
      'update webhook_endpoints set failing_since = null',
      'update webhook_endpoints set failing_since = failing_since',
    ],
    'messages of a workflow are taken back too soon': ['inMs(-overdueMs)', 'inMs(0)'],
    'the dispatcher repeats what failed': [
      'then coalesce(handed_over_at, now()) else handed_over_at end',
      'then handed_over_at else handed_over_at end',
    ],
  }),
  ...faultsIn('src/webhooks/store/messages.ts', 'test/webhooks/webhooks-dispatch.store.test.ts', {
    'a message that is sent again waits for its workflow': ['    handed_over_at: null,\n', ''],
  }),
  ...faultsIn('src/webhooks/dispatcher.ts', 'test/webhooks/webhooks-dispatcher.store.test.ts', {
    'what Temporal does not take is lost until the sweep': [
      'if (left.length > 0) await takeBack(db, left);',
      'if (left.length < 0) await takeBack(db, left);',
    ],
    'Temporal is given a message on and on': [
      'isHandedOver: permit.waitMs >= handOverFromMs',
      'isHandedOver: false',
    ],
    'a message that cannot be signed is tried on and on': [
      'if (unready.length > 0)',
      'if (unready.length < 0)',
    ],
    'a line names the purchase of another message': [
      'withSubject(subjectOf(attempted.delivery), () =>',
      'withSubject({}, () =>',
    ],
    'an attempt that cannot be recorded at once is made again': [
      'for (const pauseMs of RECORD_PAUSES_MS)',
      'for (const pauseMs of [] as number[])',
    ],
    'attempts are lost when a worker stops': [
      'await Promise.all(running).finally(() => clearTimeout(grace));',
      'clearTimeout(grace);',
    ],
  }),
  ...faultsIn('migrations/world/baseline/webhooks.ts', 'test/webhooks/feed.store.test.ts', {
    'an event stands before what it follows from': [
      '+ position_offset, last) into',
      '+ position_offset, 0) into',
    ],
    'an event stands below what readers have passed': [
      'greatest(pg_current_xact_id()::text::bigint + position_offset, last)',
      'coalesce(last, pg_current_xact_id()::text::bigint + position_offset)',
    ],
  }),
  ...faultsIn('src/operations/store/figures.ts', 'test/webhooks/webhooks-dispatch.store.test.ts', {
    'a message that a workflow carries counts as late': [
      "where status = 'PENDING' and handed_over_at is null",
      "where status = 'PENDING'",
    ],
  }),
];
