/** The tools of a caller, and what they do. */
import type { CallToolResult, Tool as ListedTool } from '@modelcontextprotocol/server';
import { DomainError, type ErrorCode } from '../domain/errors.ts';
import { asFailureReason, FAILURE_REASONS } from '../domain/refusals.ts';
import type { CallRoute, RouteCaller, RouteInput, RouteResult } from '../platform/http/call-route.ts';
import { checkSize } from '../platform/http/middleware/input.ts';
import { MAX_PAGE_LIMIT } from '../platform/http/limits.ts';
import type { Route } from '../platform/http/route.ts';
import {
  createSchemas,
  DEFAULT_ITEMS,
  INSTALL_FIELDS,
  LINK_FIELDS,
  LINK_OPERATION,
  type ToolSchemas,
} from './tool-schemas.ts';
import { annotationsOf, TOOLS, type Tool } from './tools.ts';
import { whatToDo } from './what-to-do.ts';

type Fields = Readonly<Record<string, unknown>>;

export interface ToolCaller extends RouteCaller {
  /** Whether the key may buy and has a budget. */
  readonly mayBuy: () => Promise<boolean>;
}

export interface ToolBox {
  /** What this caller may call. */
  readonly list: (caller: ToolCaller) => Promise<readonly ListedTool[]>;
  /** Undefined: there is no such tool. What is refused is a result too, so that a model can read it. */
  readonly call: (caller: ToolCaller, name: string, given: Fields) => Promise<CallToolResult | undefined>;
}

type DescribedTool = Tool & { readonly schemas: ToolSchemas; readonly listed: ListedTool };

export function createToolBox(routes: readonly Route[], callRoute: CallRoute): ToolBox {
  const byOperation = new Map(routes.map((route) => [route.docs?.operationId, route]));
  const used = TOOLS.flatMap(({ operation, takes = operation }) => [operation, takes]);
  const schemasOf = createSchemas(
    [...new Set([...used, LINK_OPERATION])].flatMap((operation) => byOperation.get(operation) ?? []),
  );
  const tools = TOOLS.map((tool): DescribedTool => {
    const schemas = schemasOf(tool);
    return { ...tool, schemas, listed: describe(tool, schemas, byOperation.get(tool.operation)) };
  });
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  const run: Run = (caller, operation, input) => {
    const route = byOperation.get(operation);
    if (!route) throw new Error(`no route is called ${operation}`);
    return callRoute(caller, route, input);
  };
  return {
    async list({ mayBuy }) {
      const buys = await mayBuy();
      return tools.filter(({ kind }) => kind === 'read' || buys).map(({ listed }) => listed);
    },
    async call(caller, name, given) {
      const tool = byName.get(name);
      if (!tool) return undefined;
      try {
        return done(await resultOf(tool, run, caller, given));
      } catch (error) {
        if (error instanceof Refused) return refusedBy(tool, error.refusal);
        if (error instanceof DomainError)
          return refusedBy(tool, { code: error.code, said: error.details ?? error.message, more: {} });
        throw error;
      }
    },
  };
}

type Run = (caller: RouteCaller, operation: string, input: RouteInput) => Promise<RouteResult>;

function describe(tool: Tool, { input, output }: ToolSchemas, route: Route | undefined): ListedTool {
  const { name, description } = tool;
  return {
    name,
    title: route?.docs?.summary,
    description,
    inputSchema: input as ListedTool['inputSchema'],
    outputSchema: output,
    annotations: annotationsOf(tool),
  };
}

async function resultOf(tool: DescribedTool, run: Run, caller: ToolCaller, given: Fields): Promise<Fields> {
  if (tool.kind !== 'read' && !(await caller.mayBuy()))
    throw new DomainError(
      'FORBIDDEN',
      'This key may not buy: it needs the permission "purchase" and a budget',
    );
  const input = inputOf(tool, given);
  // Answers are read as somebody who may not install; the link is read apart.
  const reader = { ...caller, principal: { ...caller.principal, mayInstall: false } };
  const answer =
    tool.kind === 'buy' ? await buy(run, reader, input) : doneBody(await run(reader, tool.operation, input));
  const result = tool.schemas.isList ? chosenItems(answer, given) : insideEnvelope(answer);
  if (!tool.linksInstall) return result;
  return { ...result, ...(await linkOf(run, caller, result)) };
}

/**
 * The Idempotency-Key is made from the quote and the API key: a repeated call is the same request, and what
 * another key was refused, such as by its budget, is nothing to this one. The quote itself buys once.
 */
async function buy(run: Run, caller: RouteCaller, input: RouteInput): Promise<unknown> {
  const quote = insideEnvelope(doneBody(await run(caller, 'getQuote', input)));
  const { quoteId, packageCode, packageType, esimId } = quote;
  const body = { quoteId, packageCode, packageType, esimId, paymentMethod: 'WALLET' };
  const idempotencyKey = `mcp:${String(quoteId)}:${caller.principal.keyId}`;
  return asItStands(run, caller, doneBody(await run(caller, 'buy', { body, idempotencyKey })));
}

/** A repeat gets the first answer, and the purchase may have ended since. Throws Refused if it failed. */
async function asItStands(run: Run, caller: RouteCaller, first: unknown): Promise<unknown> {
  const { transactionId, status } = first as Fields;
  if (status === 'SUCCESS') return first;
  const now = await run(caller, 'getTransaction', { params: { transactionId: String(transactionId) } });
  // It may not be written yet.
  if (now.status !== OK) return first;
  const purchase = { ...(now.body as Fields) };
  Reflect.deleteProperty(purchase, 'timeline');
  if (purchase['status'] !== 'FAILED') return purchase;
  const reason = asFailureReason(String(purchase['reason']));
  const said = `The purchase failed (${reason}), and nothing is charged for it`;
  throw new Refused({ code: FAILURE_REASONS[reason], said, more: { transactionId } });
}

/** The arguments where the route takes them. Throws VALIDATION_ERROR; the route itself checks the rest. */
function inputOf({ schemas: { places }, fixed }: DescribedTool, given: Fields): RouteInput {
  checkSize(given);
  const params: Record<string, string> = {};
  const query: Record<string, string> = {};
  const body: Record<string, unknown> = { ...fixed };
  for (const [name, value] of Object.entries(given)) {
    const place = places[name];
    if (place === undefined || name in (fixed ?? {})) throw invalid(`${name}: is no argument of this tool`);
    if (value === undefined || value === null || place === 'list') continue;
    if (place === 'body') body[name] = value;
    else if (place === 'query') query[name] = textOf(name, value);
    else if (typeof value === 'string') params[name] = value;
    else throw invalid(`${name}: must be a text`);
  }
  for (const name of Object.keys(places))
    if (places[name] === 'path' && params[name] === undefined) throw invalid(`${name}: is required`);
  return { params, query, body };
}

function textOf(name: string, value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  throw invalid(`${name}: must be a text or a number`);
}

const invalid = (details: string) => new DomainError('VALIDATION_ERROR', 'Invalid request', { details });

/** Of a list that a route answers whole: the items with a text, one page of them. */
function chosenItems(answer: unknown, given: Fields): Fields {
  const { search = '', page, limit } = given;
  if (typeof search !== 'string') throw invalid('search: must be a text');
  const [from, size] = [wholeNumber('page', page ?? 1), wholeNumber('limit', limit ?? DEFAULT_ITEMS)];
  if (size > MAX_PAGE_LIMIT) throw invalid(`limit: must be at most ${MAX_PAGE_LIMIT}`);
  const sought = search.trim().toLowerCase();
  const found = (answer as readonly Fields[]).filter((item) =>
    Object.values(item).some((value) => typeof value === 'string' && value.toLowerCase().includes(sought)),
  );
  return { items: found.slice((from - 1) * size, from * size), total: found.length };
}

function wholeNumber(name: string, value: unknown): number {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 1) return value;
  throw invalid(`${name}: must be a whole number from 1`);
}

function insideEnvelope(answer: unknown): Fields {
  const fields = answer as Fields;
  return fields['success'] === true && 'data' in fields ? (fields['data'] as Fields) : fields;
}

/** The install link of the eSIM that the answer is about; nothing where it cannot be read. */
async function linkOf(run: Run, caller: RouteCaller, result: Fields): Promise<Fields> {
  const { esimId } = (result['esimDetails'] ?? { esimId: result['_id'] }) as Fields;
  if (typeof esimId !== 'string') return {};
  const { status, body } = await run(caller, LINK_OPERATION, { params: { esimId } });
  if (status !== OK) return {};
  const install = body as Fields;
  return Object.fromEntries(LINK_FIELDS.map((name) => [name, install[name]]));
}

const OK = 200;

interface Refusal {
  readonly code: ErrorCode;
  readonly said: string;
  /** What else the model reads. */
  readonly more: Fields;
}

/** A refusal of a route. */
class Refused extends Error {
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super('refused');
    this.refusal = refusal;
  }
}

/** Throws Refused. */
function doneBody({ status, body }: RouteResult): unknown {
  if (status < 400) return body;
  const fields = body as Fields;
  const { code, message = fields['message'], details, ...more } = (fields['error'] ?? fields) as Fields;
  const texts = [message, details].filter((text) => typeof text === 'string');
  // The code stands beside it.
  const said = [...new Set(texts.map((text) => text.replace(`${String(code)}: `, '')))].join(': ');
  throw new Refused({ code: code as ErrorCode, said, more });
}

/** As a tool answers it. */
function refusedBy({ kind }: Tool, { code, said, more }: Refusal): CallToolResult {
  const shown = { code, message: said, whatToDo: whatToDo(code, kind, said), ...more };
  return { content: [{ type: 'text', text: JSON.stringify(clean(shown)) }], isError: true };
}

/** The same twice: clients of 2025 read the text. */
function done(result: Fields): CallToolResult {
  const structuredContent = clean(result) as Record<string, unknown>;
  return { content: [{ type: 'text', text: JSON.stringify(structuredContent) }], structuredContent };
}

/** `DI`: what fonts draw as nothing, such as variation selectors, which can carry any bytes. */
const HIDDEN_CHARACTERS = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{DI}]/gu;

/** Without what installs an eSIM, and without characters that people do not see and models read. */
function clean(value: unknown): unknown {
  if (typeof value === 'string') return value.replaceAll(HIDDEN_CHARACTERS, ' ');
  if (Array.isArray(value)) return value.map(clean);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]) =>
      INSTALL_FIELDS.has(name) ? [] : [[name, clean(member)]],
    ),
  );
}
