/**
 * The control interface: JSON over HTTP on a port of its own, for scripts and tests. Guarantee: bad input is 400 with what is wrong,
 * never a crash. Must not be reachable from outside the machine: it has no authentication and listens on loopback by default.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { SupplierContext } from '../context.ts';
import { FaultRequestError, parseFaults } from '../faults.ts';
import { BodyTooLargeError, readBody, sendJson } from '../http.ts';
import type { Stats } from '../stats.ts';
import {
  allocateOrder,
  changeBalance,
  changeEsim,
  changePackage,
  ControlError,
  restorePackage,
} from './changes.ts';
import { esimView, listPurchases } from './orders-view.ts';

const BODY_LIMIT_BYTES = 65_536;
const DEFAULT_LIMIT = 100;
const MOST_LISTED = 10_000;

interface ControlRequest {
  /** The path's own part, as in /esims/{id}; empty where there is none. */
  id: string;
  query: URLSearchParams;
  body: () => Promise<unknown>;
}

type Route = (request: ControlRequest) => unknown;

function readLimit(query: URLSearchParams): number {
  const text = query.get('limit');
  if (text === null) return DEFAULT_LIMIT;
  const limit = /^\d{1,6}$/.test(text) ? Number(text) : 0;
  if (limit < 1 || limit > MOST_LISTED)
    throw new ControlError(400, [`limit must be from 1 to ${MOST_LISTED}`]);
  return limit;
}

function routesOf(context: SupplierContext, stats: Stats): [method: string, path: RegExp, route: Route][] {
  return [
    ['GET', /^\/faults$/, () => context.faults.current],
    ['PUT', /^\/faults$/, async ({ body }) => context.faults.set(parseFaults(await body()))],
    ['DELETE', /^\/faults$/, () => context.faults.reset()],
    [
      'GET',
      /^\/orders$/,
      ({ query }) => listPurchases(context, query.get('transactionId'), readLimit(query)),
    ],
    ['POST', /^\/orders\/([\w-]{1,40})\/allocate$/, ({ id }) => allocateOrder(context, id)],
    [
      'GET',
      /^\/esims\/([\w-]{1,40})$/,
      ({ id }) => {
        const row = context.orders.esimByTranNo(id) ?? context.orders.esimByIccid(id);
        if (row === undefined) throw new ControlError(404, ['no eSIM with this ICCID or esimTranNo']);
        return esimView(context, row);
      },
    ],
    ['PUT', /^\/esims\/([\w-]{1,40})$/, async ({ id, body }) => changeEsim(context, id, await body())],
    ['GET', /^\/balance$/, () => ({ balance: context.account.balance() })],
    ['PUT', /^\/balance$/, async ({ body }) => changeBalance(context, await body())],
    [
      'PUT',
      /^\/packages\/([\w.-]{1,100})$/,
      async ({ id, body }) => changePackage(context, id, await body()),
    ],
    ['DELETE', /^\/packages\/([\w.-]{1,100})$/, ({ id }) => restorePackage(context, id)],
    [
      'DELETE',
      /^\/webhook$/,
      () => {
        context.webhooks.saveUrl('');
        return { webhook: null };
      },
    ],
    ['GET', /^\/stats$/, () => stats.snapshot()],
    ['GET', /^\/health$/, () => ({ ok: true })],
  ];
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  const body = await readBody(request, BODY_LIMIT_BYTES);
  try {
    return JSON.parse(body.toString('utf8')) as unknown;
  } catch {
    throw new ControlError(400, ['the body must be JSON']);
  }
}

/** The request handler of the control interface. */
export function createControlHandler(
  context: SupplierContext,
  stats: Stats,
  onBug: (error: unknown) => void,
): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  const routes = routesOf(context, stats);
  const answer = (request: IncomingMessage): unknown => {
    const target = `http://control${request.url ?? '/'}`;
    if (!URL.canParse(target)) throw new ControlError(400, ['the path is malformed']);
    const { pathname, searchParams } = new URL(target);
    const matching = routes.filter(([, path]) => path.test(pathname));
    const found = matching.find(([method]) => method === request.method);
    if (found === undefined) {
      const methods = matching.map(([method]) => method).join(', ');
      if (methods !== '') throw new ControlError(405, [`method not allowed, use ${methods}`]);
      throw new ControlError(404, ['no such path']);
    }
    const id = found[1].exec(pathname)?.[1] ?? '';
    return found[2]({ id, query: searchParams, body: () => readJson(request) });
  };
  return async (request, response) => {
    try {
      sendJson(response, 200, JSON.stringify(await answer(request)));
    } catch (error) {
      const refused = asControlError(error);
      if (refused === undefined) onBug(error);
      if (refused?.status === 413) response.setHeader('connection', 'close');
      const problems = refused?.problems ?? ['the simulator failed; see its log'];
      const json = JSON.stringify({ error: { message: problems.join('; '), problems } });
      sendJson(response, refused?.status ?? 500, json);
    }
  };
}

function asControlError(error: unknown): ControlError | undefined {
  if (error instanceof ControlError) return error;
  if (error instanceof FaultRequestError) return new ControlError(400, error.problems);
  if (error instanceof BodyTooLargeError) return new ControlError(413, [error.message]);
  return undefined;
}
