/**
 * The gateway's control interface: its routes. Guarantee: what they answer is what the gateway really holds.
 */
import {
  checked,
  ControlError,
  createControlHandler,
  readLimit,
  type RouteRow,
} from '../../support/control.ts';
import type { Handler } from '../../support/http.ts';
import type { Stats } from '../../support/stats.ts';
import type { Clock } from '../clock.ts';
import type { GatewayContext } from '../context.ts';
import { parseFaults } from '../faults.ts';
import type { TransactionFilter } from '../storage/transactions.ts';
import type { GatewayDesk } from '../webhooks/desk.ts';
import type { TransactionRow } from '../storage/rows.ts';
import type { WebhookStore } from '../storage/webhooks.ts';
import { iso } from '../wire.ts';
import {
  abandonCharge,
  disputeCharge,
  endRefund,
  failCharge,
  payCharge,
  requireCharge,
  reverseCharge,
  type RefundMove,
} from './changes.ts';
import { chargeSummary, chargeView, eventView, refundView } from './charges-view.ts';
import { momentOf, statementOf } from './statement.ts';

/** Ten years: more than any schedule lasts. */
const LONGEST_SKIP_MS = 315_360_000_000;
const REFERENCE = '([A-Za-z0-9.=-]{1,100})';

export interface ControlOptions {
  context: GatewayContext;
  webhooks: WebhookStore;
  desk: GatewayDesk;
  clock: Clock;
  stats: Stats;
  runDue: () => void;
  advance: (byMs: number) => Promise<void>;
  /** Has the API listen, or refuse connections, as the faults say. */
  applyReach: () => Promise<void>;
  onBug: (error: unknown) => void;
}

function filterOf(query: URLSearchParams): TransactionFilter {
  const filter: TransactionFilter = {};
  for (const name of ['status', 'email', 'currency'] as const) {
    const value = query.get(name);
    if (value !== null) filter[name] = value;
  }
  const [fromMs, toMs] = [momentOf(query, 'from'), momentOf(query, 'to')];
  if (fromMs !== undefined) filter.fromMs = fromMs;
  if (toMs !== undefined) filter.toMs = toMs;
  return filter;
}

type Deed = (context: GatewayContext, reference: string, body: unknown) => TransactionRow;

function chargeRoutes({ context, webhooks }: ControlOptions): RouteRow[] {
  const view = { context, webhooks };
  const deed = (name: string, work: Deed): RouteRow => [
    'POST',
    new RegExp(`^/charges/${REFERENCE}/${name}$`),
    async ({ id, bodyIfAny }) => chargeView(view, work(context, id, await bodyIfAny())),
  ];
  return [
    [
      'GET',
      /^\/charges$/,
      ({ query }) => context.transactions.list(filterOf(query), readLimit(query), 0).rows.map(chargeSummary),
    ],
    ['GET', new RegExp(`^/charges/${REFERENCE}$`), ({ id }) => chargeView(view, requireCharge(context, id))],
    deed('pay', payCharge),
    deed('fail', failCharge),
    deed('abandon', abandonCharge),
    deed('reverse', reverseCharge),
    deed('dispute', disputeCharge),
    ...(['process', 'fail', 'needs-attention'] as const).map((move: RefundMove): RouteRow => [
      'POST',
      new RegExp(`^/refunds/(\\d{1,15})/${move}$`),
      ({ id }) => refundView(endRefund(context, id, move)),
    ]),
    ['GET', /^\/statement$/, ({ query }) => statementOf(context, query)],
  ];
}

const URLS = {
  ok: (value: unknown) =>
    Array.isArray(value) &&
    value.length <= 10 &&
    value.every((url) => typeof url === 'string' && /^https?:\/\/[^\s]+$/.test(url) && URL.canParse(url)),
  wants: 'a list of at most 10 http or https addresses',
};

function webhookRoutes({ context, webhooks, desk }: ControlOptions): RouteRow[] {
  const view = { context, webhooks };
  return [
    [
      'GET',
      /^\/webhooks$/,
      ({ query }) =>
        webhooks
          .recentEvents(query.get('reference'), query.get('event'), readLimit(query))
          .map((event) => eventView(view, event)),
    ],
    [
      'POST',
      /^\/webhooks\/(\d{1,15})\/resend$/,
      ({ id }) => {
        if (!desk.resend(Number(id))) throw new ControlError(404, ['no webhook with this id']);
        return { resent: Number(id) };
      },
    ],
    ['GET', /^\/webhook-urls$/, () => ({ urls: desk.urls() })],
    [
      'PUT',
      /^\/webhook-urls$/,
      async ({ body }) => {
        const { urls } = checked(await body(), { urls: URLS }) as { urls?: string[] };
        if (urls === undefined) throw new ControlError(400, ['give urls']);
        desk.saveUrls(urls);
        return { urls: desk.urls() };
      },
    ],
  ];
}

const SKIP = {
  ok: (value: unknown) =>
    Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= LONGEST_SKIP_MS,
  wants: `whole milliseconds from 0 to ${LONGEST_SKIP_MS}`,
};

function machineRoutes({ context, clock, stats, advance, applyReach }: ControlOptions): RouteRow[] {
  const time = () => ({ now: iso(clock.now()), aheadMs: clock.aheadMs() });
  return [
    ['GET', /^\/faults$/, () => context.faults.current],
    [
      'PUT',
      /^\/faults$/,
      async ({ body }) => {
        const faults = context.faults.set(parseFaults(await body()));
        await applyReach();
        return faults;
      },
    ],
    [
      'DELETE',
      /^\/faults$/,
      async () => {
        const faults = context.faults.reset();
        await applyReach();
        return faults;
      },
    ],
    ['GET', /^\/clock$/, time],
    [
      'POST',
      /^\/clock$/,
      async ({ body }) => {
        const { advanceMs } = checked(await body(), { advanceMs: SKIP }) as { advanceMs?: number };
        if (advanceMs === undefined) throw new ControlError(400, ['give advanceMs']);
        await advance(advanceMs);
        return time();
      },
    ],
    ['GET', /^\/stats$/, () => stats.snapshot()],
    ['GET', /^\/health$/, () => ({ ok: true })],
  ];
}

/** The request handler of the control interface. */
export function createGatewayControl(options: ControlOptions): Handler {
  const routes = [...chargeRoutes(options), ...webhookRoutes(options), ...machineRoutes(options)];
  const handle = createControlHandler(routes, options.onBug);
  return (request, response) => {
    options.runDue();
    return handle(request, response);
  };
}
