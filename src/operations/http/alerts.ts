/** Alerts, where they are sent, and the balance at the supplier. */
import { z } from 'zod';
import {
  isoTime,
  count,
  dataObject,
  listSchema,
  namedObject,
  text,
  usd,
  yesNo,
} from '../../platform/http/answer-fields.ts';
import { choiceField, idParameter, textField } from '../../platform/http/fields.ts';
import { MAX_FOUND_BY_CHARACTERS } from '../../platform/http/limits.ts';
import { environmentField, operatorRoutes } from '../../platform/http/ops-route.ts';
import { pageFields, pageSchema, presentPage } from '../../platform/http/page.ts';
import type { Route } from '../../platform/http/route.ts';
import { ALERT_KINDS, CHANNEL_KINDS, SEVERITIES, titleOf, type AlertKind } from '../../domain/alerts.ts';
import { SHORTAGE_REASONS } from '../../domain/states.ts';
import type { AlertCases } from '../alerts/use-cases.ts';
import { BALANCE_LEVELS } from '../supplier/balance-rules.ts';

/** As long as URLs may be anywhere here. */
const MAX_ADDRESS_CHARACTERS = 2_048;

const routes = operatorRoutes<AlertCases>('Alerts', {
  channelId: idParameter('channel', 'The `id` of a channel', 'No such channel'),
  packageCode: {
    description: 'The code of a package that is not sold',
    example: 'NG-5GB-30D',
    isPossible: (code) => code.length <= MAX_FOUND_BY_CHARACTERS,
    notFound: { code: 'NOT_FOUND', message: 'This package is sold' },
  },
});

const kinds = ALERT_KINDS as [AlertKind, ...AlertKind[]];

const alert = namedObject('Alert', {
  id: z.string().meta({ example: '42' }),
  kind: z.enum(kinds),
  title: text('The kind in words', 'The balance at the supplier is low'),
  severity: z.enum(SEVERITIES),
  subject: text('What it is about; empty: the environment', 'esim-access'),
  detail: text('What the rows say', 'USD 412.50 is left at esim-access.'),
  openedAt: isoTime('ISO 8601'),
  closedAt: isoTime('Null: it is open').nullable(),
});

const alertsQuery = z.object({
  ...environmentField,
  ...pageFields,
  status: choiceField(['open', 'closed'], { description: 'Only these' }).optional(),
});

const channel = namedObject('AlertChannel', {
  id: z.string().meta({ example: 'channel-6f9619ff8b864d0191f1c2d3e4f5a6b7' }),
  kind: z.enum(CHANNEL_KINDS),
  shown: text('An e-mail address, or the host of a URL: the rest of it is a secret', 'hooks.slack.com'),
  minSeverity: z.enum(SEVERITIES),
  kinds: z.array(z.enum(kinds)).describe('Empty: all'),
  createdBy: z.string().meta({ example: 'ada@operator.example' }),
  createdAt: isoTime('ISO 8601'),
  lastSentAt: isoTime('Null: nothing was sent yet').nullable(),
  failure: text('Why what waits is not sent yet; null: nothing waits', 'answered 404').nullable(),
});

const channelBody = namedObject('AddAlertChannelRequest', {
  kind: choiceField(CHANNEL_KINDS, {
    description: 'Mail to an operator, or a chat’s incoming webhook in Slack’s form',
  }),
  address: textField({
    max: MAX_ADDRESS_CHARACTERS,
    description:
      'An operator’s e-mail address, or a URL on the public internet. A URL is kept sealed and never shown',
    example: 'https://hooks.slack.com/services/T000/B000/XXXX',
  }),
  minSeverity: choiceField(SEVERITIES, {
    description: 'Nothing below it is sent; default: warning',
  }).optional(),
  kinds: z
    .array(z.enum(kinds))
    .max(ALERT_KINDS.length)
    .optional()
    .describe('Only these; absent or empty: all'),
});

const removedSchema = dataObject('RemovedAlertChannel', { id: z.string(), removed: z.literal(true) });
const testedSchema = dataObject('TestedAlertChannel', { id: z.string(), willBeSent: z.literal(true) });

const availabilitySchema = dataObject('Availability', {
  balances: z.array(
    namedObject('SupplierBalance', {
      supplier: z.string().meta({ example: 'esim-access' }),
      balanceUsd: usd('As the supplier said', 1_250.5),
      availableUsd: usd('Less what is ordered, or may be paid, and is not in it yet', 1_180.25),
      perDayUsd: usd('What is used a day: of the last day or of the last seven, whichever is more', 240.75),
      lastsUntil: isoTime('At that rate; null: for more than a year').nullable(),
      level: z.enum(BALANCE_LEVELS),
      readAt: isoTime('When it was read'),
      isBound: yesNo('Not read, but learnt from a refusal: there is no more than this'),
      isTight: yesNo('So little that each purchase counts what is left'),
      uncovered: count('Listed packages that cost more than is left, and are not sold', 0),
    }),
  ),
  shortages: z
    .array(
      namedObject('PackageShortage', {
        packageCode: z.string().meta({ example: 'NG-5GB-30D' }),
        name: z.string().meta({ example: 'Nigeria 5GB 30Days' }),
        supplier: z.string().meta({ example: 'esim-access' }),
        reason: z.enum(SHORTAGE_REASONS),
        since: isoTime('ISO 8601'),
        refusals: count('Orders that the supplier has refused since then', 1),
        probeAt: isoTime('From then on one purchase from a wallet tries it: it fails free of charge'),
      }),
    )
    .describe('Packages that are not sold until a check says otherwise, the oldest first'),
});

export const alertRoutes: readonly Route<AlertCases>[] = [
  routes.get('/ops/alerts', {
    permission: 'see',
    query: alertsQuery,
    answer: [200, 'One page: open ones, then the newest', pageSchema(alert, 'AlertPage')],
    operationId: 'listAlerts',
    summary: 'List alerts',
    description:
      'What is wrong, or was within 90 days. An alert closes by itself ten minutes after its cause has ended.',
    async handle({ cases, query: { status, ...page } }) {
      const isOpen = status === undefined ? undefined : status === 'open';
      const listed = await cases.listAlerts({ ...page, isOpen });
      const items = listed.items.map((one) => ({ ...one, id: String(one.id), title: titleOf(one.kind) }));
      return presentPage({ ...listed, items });
    },
  }),
  routes.get('/ops/alert-channels', {
    permission: 'see',
    answer: [200, 'All, the oldest first', listSchema(channel, 'AlertChannels')],
    operationId: 'listAlertChannels',
    summary: 'List where alerts are sent',
    description: 'Mail to operators, and webhooks of chats.',
    handle: async ({ cases }) => ({ items: await cases.listChannels() }),
  }),
  routes.post('/ops/alert-channels', {
    permission: 'alerts',
    body: channelBody,
    answer: [201, 'Added', dataObject('AddedAlertChannel', { channel })],
    operationId: 'addAlertChannel',
    summary: 'Send alerts somewhere',
    description:
      'An environment has at most 20 channels. What cannot be sent is tried again, at least each hour, until it is sent or the channel is removed.',
    async handle({ cases, session, body: { minSeverity = 'warning', kinds: only = [], ...command } }) {
      return { channel: await cases.addChannel(session, { ...command, minSeverity, kinds: only }) };
    },
  }),
  routes.delete('/ops/alert-channels/{channelId}', {
    permission: 'alerts',
    answer: [200, 'Removed', removedSchema],
    operationId: 'removeAlertChannel',
    summary: 'Remove a channel',
    description: 'What waits to be sent there is not sent.',
    async handle({ cases, session, params: { channelId: id } }) {
      await cases.removeChannel(session, id);
      return { id, removed: true } as const;
    },
  }),
  routes.post('/ops/alert-channels/{channelId}/test', {
    confirmed: false,
    permission: 'alerts',
    answer: [200, 'Will be sent within a minute', testedSchema],
    operationId: 'testAlertChannel',
    summary: 'Send a test message',
    description: 'It is sent within a minute. If it is not, `failure` of the channel says why.',
    async handle({ cases, session, params: { channelId: id } }) {
      await cases.testChannel(session, id);
      return { id, willBeSent: true } as const;
    },
  }),
  routes.get('/ops/availability', {
    permission: 'see',
    answer: [200, 'Balances and shortages', availabilitySchema],
    operationId: 'getAvailability',
    summary: 'Read what can be delivered',
    description:
      'The balance at the supplier with how long it lasts, and packages that are not sold. Merchants read only `PACKAGE_UNAVAILABLE`.',
    handle: ({ cases }) => cases.readAvailability(),
  }),
  routes.post('/ops/availability/check', {
    confirmed: false,
    permission: 'see',
    answer: [200, 'After the check', availabilitySchema],
    operationId: 'checkBalance',
    summary: 'Read the balance at the supplier now',
    description: 'It is also read each minute in which something was ordered, and every five minutes.',
    handle: ({ cases }) => cases.checkBalanceNow(),
  }),
  routes.delete('/ops/availability/shortages/{packageCode}', {
    confirmed: false,
    permission: 'replay',
    answer: [200, 'After that', availabilitySchema],
    operationId: 'endShortage',
    summary: 'Sell a package again',
    description: 'If the supplier still refuses it, the next buyer is refunded, and it is not sold again.',
    handle: ({ cases, params }) => cases.endShortage(params.packageCode),
  }),
];
