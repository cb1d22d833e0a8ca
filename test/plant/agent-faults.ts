// Faults in what lets agents buy: the MCP server and agentic checkout. Each is about money or access.
import { type Fault, faultsIn } from './fault.ts';

const TOOLS = 'test/mcp/tools.http.test.ts';
const PROTOCOL = 'test/mcp/protocol.http.test.ts';
const CHECKOUT = 'test/purchases/checkout-sessions.http.test.ts';
const CHECKOUT_TERMS = 'test/purchases/checkout-terms.http.test.ts';
const CHECKOUT_PURCHASES = 'test/purchases/checkout-purchases.http.test.ts';

const MCP_FAULTS: readonly Fault[] = [
  ...faultsIn('src/mcp/mcp-route.ts', TOOLS, {
    'a key without a budget may buy for an agent': [
      '(await cases.wallet.getBudget(principal)).budget !== null',
      'true',
    ],
    'the permission of an agent’s key to buy is not asked for': [
      "principal.scopes.includes('purchase') && ",
      '',
    ],
  }),
  ...faultsIn('src/mcp/mcp-route.ts', PROTOCOL, {
    'a page of another site calls tools': ['originValidationResponse(request, sites) ??', 'undefined ??'],
    'a page that has its name point to this machine calls tools': [
      '(isLocal ? hostHeaderValidationResponse(request, local) : undefined)',
      'undefined',
    ],
    'a page of this machine calls tools of a public service': [
      'const sites = isLocal ? local : [hostname];',
      'const sites = [...local, hostname];',
    ],
    'one request calls many tools': [' ?? refuseBatch(body)', ''],
    'a browser’s session calls tools': ['    keysOnly: true,\n', ''],
  }),
  ...faultsIn('src/mcp/tool-box.ts', TOOLS, {
    'tools that buy are run for every key': [
      "tool.kind !== 'read' && !(await caller.mayBuy())",
      "tool.kind === 'read' && false",
    ],
    'tools that buy are shown to every key': ["kind === 'read' || buys", "kind === 'read' || buys || true"],
    'each call of buy_quote is a purchase of its own': [
      'const idempotencyKey = `mcp:${String(quoteId)}:${caller.principal.keyId}`',
      'const idempotencyKey = `mcp:${Math.random()}`',
    ],
    'an agent buys without a key that makes it once': ['{ body, idempotencyKey }', '{ body }'],
    'an agent’s purchase leaves out its quote': ['const body = { quoteId, ', 'const body = { '],
    'an agent pays by card': ["esimId, paymentMethod: 'WALLET' };", "esimId, paymentMethod: 'CARD' };"],
    'an agent chooses what is fixed': [
      'if (place === undefined || name in (fixed ?? {}))',
      'if (place === undefined && !(name in (fixed ?? {})))',
    ],
    'install data is opened for agents': ['mayInstall: false', 'mayInstall: true'],
    'install data stands in answers to agents': [
      'INSTALL_FIELDS.has(name) ? []',
      "INSTALL_FIELDS.has(name) && name === '' ? []",
    ],
    'old clients read what new ones do not': [
      'text: JSON.stringify(structuredContent)',
      'text: JSON.stringify(result)',
    ],
    'an install link is shown to a key that may not read it': [
      'await linkOf(run, caller, result)',
      'await linkOf(run, { ...caller, principal: { ...caller.principal, mayInstall: true } }, result)',
    ],
    'names of packages hide characters from people': [
      'value.replaceAll(HIDDEN_CHARACTERS',
      "value.replaceAll('\\u0000'",
    ],
    'names of packages hold control characters': ['[\\p{Cc}', '['],
    'names of packages turn the direction of text': ['\\p{Cf}', ''],
    'names of packages hide bytes in variation selectors': ['\\p{DI}', ''],
  }),
  ...faultsIn('src/mcp/tool-schemas.ts', TOOLS, {
    'an activation code stands in answers to agents': ["  'activationCode',\n", ''],
    'a QR code, a matching id or a PIN stands in answers to agents': [
      '...Object.keys(NO_INSTALL_DATA).map(camelCase),',
      '...Object.keys(NO_INSTALL_DATA),',
    ],
  }),
  ...faultsIn('src/mcp/tools.ts', TOOLS, {
    'an agent freezes a price for another way to pay': ["    fixed: { paymentMethod: 'WALLET' },\n", ''],
    'create_quote is a tool that reads': ["kind: 'quote',", "kind: 'read',"],
  }),
  ...faultsIn('src/purchases/store/quotes.ts', TOOLS, {
    'an agent buys at a quote of another account': [
      ".where('quotes.account_id', '=', accountId)",
      ".where('quotes.account_id', '<>', '')",
    ],
  }),
  ...faultsIn('src/app/http/app.ts', TOOLS, {
    'a tool does not ask for the permission of its route': [
      'createRouteCalls([environment, scope, ...valid]',
      'createRouteCalls([environment, ...valid]',
    ],
  }),
  ...faultsIn('src/platform/http/middleware/rate-limit.ts', PROTOCOL, {
    'a call of a tool is not counted': [
      "if (routeOf(ctx)?.key !== 'vendor') {",
      "if (routeOf(ctx)?.key !== 'vendor' && routeOf(ctx)?.keysOnly !== true) {",
    ],
  }),
  ...faultsIn('src/app/http/authenticate.ts', PROTOCOL, {
    'every route takes a bearer token': ['(takesBearer && bearerOf(ctx))', 'bearerOf(ctx)'],
  }),
];

const CHECKOUT_FAULTS: readonly Fault[] = [
  ...faultsIn('src/purchases/acp/sessions.ts', CHECKOUT, {
    'a canceled session’s price can be bought at': [
      'if (!(await withdrawQuote(trx, session.quote_id, { by: sessionId, now }))) throw notCancelable(session);',
      '',
    ],
    'a canceled session can still be completed': [
      '{ canceled_at: now, updated_at: now }',
      '{ updated_at: now }',
    ],
    'a changed session’s earlier price can be bought at': [
      'if (!(await withdrawQuote(trx, session.quote_id, { by: sessionId, now }))) throw closed(session);',
      '',
    ],
    'each completion is a purchase of its own': [
      'key: purchaseKeyOf(id), path',
      'key: `${purchaseKeyOf(id)} ${Math.random()}`, path',
    ],
    'a repeated completion is refused': ['  if (isBought(session)) return session;\n', ''],
    'a session that ended is sold again': ['  requireReady(session, closed);\n', ''],
    'a session that failed counts as bought': [
      "transaction_id !== null && status !== 'canceled'",
      'transaction_id !== null',
    ],
    'a completion without a handler pays from the wallet': [
      'if (!method) throw unsupported(session);\n      return pay(deps, principal, session, method,',
      "return pay(deps, principal, session, method ?? 'WALLET',",
    ],
    'a session is made in another currency than its price': [
      'if (currency.toUpperCase() !== account.currency)',
      "if (currency === '')",
    ],
    'the payment page is shown after the payment': [
      "purchase_status === 'PENDING' ? await",
      'purchase_status !== null ? await',
    ],
  }),
  ...faultsIn('src/purchases/acp/sessions.ts', CHECKOUT_TERMS, {
    'a session is sold at the price of today': [
      "packageType: 'BASE', paymentMethod, quoteId } as const",
      "packageType: 'BASE', paymentMethod } as const",
    ],
    'a session is bought outside the budget of its key': [
      'await buy(deps, principal, { ...command',
      "await buy(deps, { ...principal, keyId: '' }, { ...command",
    ],
    'a permalink is shown to a key that may not read it': [
      'await installUrl(deps, esim_id, principal)',
      'await installUrl(deps, esim_id, { ...principal, mayInstall: true })',
    ],
  }),
  ...faultsIn('src/purchases/http/checkout-sessions.ts', CHECKOUT_TERMS, {
    'a permalink is kept with the answer to a repeated create': [
      'return answerOf(201, await naming(line, made));',
      'return { status: 201, body: answerOf(201, await naming(line, made)).body };',
    ],
  }),
  ...faultsIn('src/purchases/stored-answers.ts', CHECKOUT_TERMS, {
    'a repeated answer shows a permalink to a key that may not read it': [
      'await permalinkUrl(deps, principal, session',
      'await permalinkUrl(deps, { ...principal, mayInstall: true }, session',
    ],
  }),
  ...faultsIn('src/purchases/store/checkout-sessions.ts', CHECKOUT_TERMS, {
    'a caller’s key names the purchase of a session': ['=> ` acp ${sessionId}`', '=> `acp ${sessionId}`'],
  }),
  ...faultsIn('src/purchases/acp/rules.ts', CHECKOUT, {
    'a session is sold after its price expired': ['facts.expiresAt <= now', 'facts.expiresAt < new Date(0)'],
    'a session whose purchase failed sells again': [
      "case 'FAILED':\n      return 'canceled';",
      "case 'FAILED':\n      return 'ready_for_payment';",
    ],
    'a session that was begun expires with its price': [
      'if (facts.isBegun) return',
      'if (facts.isBegun && facts.expiresAt > now) return',
    ],
    'the wallet pays for every instrument': [
      "instrument === WALLET_HANDLER ? 'WALLET' : undefined",
      "'WALLET'",
    ],
    'an unknown handler is the payment page': [
      'handlerId === PAGE_HANDLER ?',
      'handlerId !== WALLET_HANDLER ?',
    ],
    'a bank transfer is an instrument of the payment page': [
      "method !== 'BANK_TRANSFER'",
      "method !== 'APPLE_PAY'",
    ],
  }),
  ...faultsIn('src/purchases/store/checkout-sessions.ts', CHECKOUT, {
    'a session of another account is read, changed and completed': [
      ".where('session.account_id', '=', accountId)",
      ".where('session.account_id', '<>', '')",
    ],
    'a completion that was refused without effect ends its session': [
      "        .on('key.refusal_reason', 'is', null),",
      '',
    ],
  }),
  ...faultsIn('src/purchases/store/checkout-sessions.ts', CHECKOUT_PURCHASES, {
    'a session whose price bought something elsewhere can be paid': [
      "fn.coalesce('key.transaction_id', 'elsewhere.transaction_id').as('transaction_id')",
      "'key.transaction_id'",
    ],
  }),
  ...faultsIn('src/purchases/store/quotes.ts', CHECKOUT_TERMS, {
    'a session takes back a price that was bought at': [
      "where('used_by', 'is', null),\n        where.exists(",
      "where('id', '=', quoteId),\n        where.exists(",
    ],
  }),
  ...faultsIn('src/platform/http/define-routes.ts', 'test/accounts/confirmed.http.test.ts', {
    'a member spends real money without their password': [
      "return isSpending && !testKeysOnly && 'live';",
      'return isSpending && testKeysOnly === undefined && false;',
    ],
  }),
  ...faultsIn('src/accounts/http/brand.ts', 'test/accounts/confirmed.http.test.ts', {
    'a member lets travellers spend the wallet without their password': ["    confirmed: 'live',\n", ''],
  }),
  ...faultsIn('src/purchases/stored-answers.ts', CHECKOUT, {
    'a permalink is kept with its answer': [
      'const hidden = render(placeholderOf(PERMALINK));',
      'const hidden = render(permalinkUrl);',
    ],
  }),
  ...faultsIn('src/purchases/http/checkout-session-schemas.ts', CHECKOUT, {
    'two of an item cost as much as one': ['Number(value.rawJSON) === 1', 'Number(value.rawJSON) >= 1'],
    'of two items one is sold': [
      "  .max(1, 'must hold one item: a session sells one eSIM, make one for each')\n",
      '',
    ],
  }),
  ...faultsIn('src/platform/http/middleware/acp.ts', CHECKOUT, {
    'an older version of the protocol is taken': [
      "ctx.req.headers['api-version'] !== ACP_VERSION",
      "!/^20\\d\\d-\\d\\d-\\d\\d$/.test(String(ctx.req.headers['api-version']))",
    ],
    'a request without a version of the protocol is taken': [
      "ctx.req.headers['api-version'] !== ACP_VERSION",
      "![undefined, '', ACP_VERSION].includes(ctx.req.headers['api-version'] as string)",
    ],
    'a session is changed without an Idempotency-Key': [
      "ctx.req.headers['idempotency-key'] === undefined",
      "ctx.req.headers['idempotency-key'] === ''",
    ],
  }),
  ...faultsIn('src/platform/http/middleware/idempotency.ts', CHECKOUT, {
    'an Idempotency-Key of agentic checkout counts for all paths': [
      "hash('sha256', `${path}\\n${key}`)",
      "hash('sha256', key)",
    ],
    'another body under the key of agentic checkout gets the first answer': [
      "path, fingerprint: hash('sha256', body) }",
      "path, fingerprint: hash('sha256', path || body) }",
    ],
  }),
  ...faultsIn('src/platform/http/define-routes.ts', CHECKOUT, {
    'a key that may only read checks out': [
      "return method === 'GET' ? 'read' : 'purchase';",
      "return method === 'DELETE' ? 'purchase' : 'read';",
    ],
  }),
];

export const AGENT_FAULTS: readonly Fault[] = [...MCP_FAULTS, ...CHECKOUT_FAULTS];
