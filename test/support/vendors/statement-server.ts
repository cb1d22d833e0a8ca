// A payment gateway that answers a long statement in its vendor's own wire format: lists by time and page,
// one charge by reference, the refunds of one charge. Its data is passed in and may be changed by the test.
// The test must close it.
import { startAnsweringServer } from './answering-server.ts';

export interface HeldTransaction {
  readonly id: number;
  readonly reference: string;
  status: 'success' | 'reversed' | 'abandoned';
  amountMinor: number;
  requestedMinor: number;
  currency: string;
  feesMinor: number;
  readonly createdAtMs: number;
  readonly paidAtMs: number;
}

export interface HeldRefund {
  readonly id: number;
  readonly transactionId: number;
  readonly key: string;
  status: 'processed' | 'pending' | 'failed';
  amountMinor: number;
  readonly currency: string;
  readonly createdAtMs: number;
  readonly doneAtMs: number;
}

export interface HeldStatement {
  readonly transactions: HeldTransaction[];
  readonly refunds: HeldRefund[];
}

export type StatementServer = Awaited<ReturnType<typeof startStatementServer>>;

/** Starts the server on a free port. */
export async function startStatementServer(held: HeldStatement) {
  let asked = 0;
  let isDown = false;
  let isHidden = false;
  const server = await startAnsweringServer();
  server.answerWith((response, { path }) => {
    asked += 1;
    const url = new URL(path, 'http://gateway');
    const isList = url.searchParams.has('from');
    const { status, body } = isDown ? AWAY : answerTo(isHidden && isList ? NOTHING : held, url);
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  return {
    url: server.baseUrl,
    /** The number of requests so far. */
    get asked() {
      return asked;
    },
    /** Answers every request with 503, or normally again. */
    fail: (wanted: boolean) => {
      isDown = wanted;
    },
    /** Answers lists by time with empty pages, and other requests normally. */
    hideLists: (wanted: boolean) => {
      isHidden = wanted;
    },
    close: server.close,
  };
}

function answerTo(held: HeldStatement, url: URL): { status: number; body: unknown } {
  const reference = /^\/transaction\/verify\/(.+)$/.exec(url.pathname)?.[1];
  if (reference !== undefined) {
    const found = held.transactions.find((one) => one.reference === reference);
    return found ? yes(transactionRow(found)) : NOT_FOUND;
  }
  const id = /^\/transaction\/(\d+)$/.exec(url.pathname)?.[1];
  if (id !== undefined) {
    const found = held.transactions.find((one) => one.id === Number(id));
    return found ? yes(transactionRow(found)) : NOT_FOUND;
  }
  if (url.pathname === '/dispute') return page(url, [], () => ({}));
  if (url.pathname === '/transaction') return page(url, within(held.transactions, url), transactionRow);
  if (url.pathname === '/refund') {
    const of = url.searchParams.get('transaction');
    const own = of === null ? held.refunds : held.refunds.filter((one) => one.transactionId === Number(of));
    return page(url, within(own, url), refundRow);
  }
  return NOT_FOUND;
}

const NOTHING: HeldStatement = { transactions: [], refunds: [] };
const AWAY = { status: 503, body: { status: false, message: 'Service unavailable' } };
const NOT_FOUND = {
  status: 404,
  body: { status: false, message: 'Transaction not found', code: 'transaction_not_found' },
};

const yes = (data: unknown, meta?: object) => ({
  status: 200,
  body: { status: true, message: 'ok', data, meta },
});

function within<T extends { readonly createdAtMs: number }>(rows: readonly T[], url: URL): readonly T[] {
  const [from, to] = ['from', 'to'].map((name) => url.searchParams.get(name));
  if (from == null || to == null) return rows;
  const [fromMs, toMs] = [Date.parse(from), Date.parse(to)];
  return rows.filter(({ createdAtMs }) => createdAtMs >= fromMs && createdAtMs <= toMs);
}

function page<T>(url: URL, rows: readonly T[], present: (row: T) => object) {
  const [perPage, nth] = ['perPage', 'page'].map((name) => Number(url.searchParams.get(name) ?? 1));
  const [size, number] = [perPage ?? 50, nth ?? 1];
  const data = rows.slice((number - 1) * size, number * size).map(present);
  return yes(data, {
    total: rows.length,
    perPage: size,
    page: number,
    pageCount: Math.ceil(rows.length / size),
  });
}

const iso = (atMs: number): string => new Date(atMs).toISOString();

/** With all fields that the vendor sends and we ignore. */
function transactionRow(row: HeldTransaction): object {
  const isPaid = row.status !== 'abandoned';
  return {
    id: row.id,
    domain: 'test',
    status: row.status,
    reference: row.reference,
    receipt_number: null,
    amount: row.amountMinor,
    message: null,
    gateway_response: isPaid ? 'Successful' : 'The transaction was not completed',
    paid_at: isPaid ? iso(row.paidAtMs) : null,
    created_at: iso(row.createdAtMs),
    channel: 'card',
    currency: row.currency,
    ip_address: '127.0.0.1',
    metadata: '',
    log: {
      start_time: Math.trunc(row.createdAtMs / 1000),
      time_spent: 4,
      attempts: 1,
      errors: 0,
      success: isPaid,
      mobile: false,
      input: [],
      history: [{ type: 'action', message: 'Attempted to pay with card', time: 3 }],
    },
    fees: isPaid ? row.feesMinor : null,
    fees_split: null,
    authorization: { channel: 'card', brand: 'visa', country_code: 'NG', reusable: true, account_name: null },
    customer: {
      id: 181873746,
      email: 'buyer@example.com',
      phone: null,
      metadata: null,
      risk_action: 'default',
    },
    plan: null,
    split: {},
    order_id: null,
    paidAt: isPaid ? iso(row.paidAtMs) : null,
    createdAt: iso(row.createdAtMs),
    requested_amount: row.requestedMinor,
    source: null,
    transaction_date: iso(row.createdAtMs),
    plan_object: {},
    subaccount: {},
    timeline: null,
  };
}

function refundRow(row: HeldRefund): object {
  return {
    id: row.id,
    domain: 'test',
    transaction: row.transactionId,
    status: row.status,
    amount: row.amountMinor,
    deducted_amount: row.amountMinor,
    currency: row.currency,
    channel: 'migs',
    merchant_note: row.key,
    customer_note: 'Refund',
    refunded_by: 'finance@example.com',
    settlement: null,
    dispute: null,
    created_at: iso(row.createdAtMs),
    updated_at: iso(row.doneAtMs),
    refunded_at: row.status === 'processed' ? iso(row.doneAtMs) : null,
  };
}
