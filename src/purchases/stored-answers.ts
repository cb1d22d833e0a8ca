import type { Principal } from '../domain/account.ts';
import { isId } from '../domain/ids.ts';
import type { EsimView } from '../esims/install-data.ts';
import type { InstallLinkDeps } from '../esims/install-links.ts';
import { requireFinished, findRequest, noteSubject } from '../platform/idempotency/identify-request.ts';
import { keyReused } from '../platform/idempotency/refusals.ts';
import { findIdempotencyKey, keepAnswer } from '../platform/idempotency/store.ts';
import {
  isSameRequest,
  type IdempotencyContext,
  type IdempotencyRecord,
  type StoredAnswer,
} from '../platform/idempotency/tag.ts';
import { withEndpointSecrets, withoutEndpointSecrets } from '../webhooks/endpoint-secrets.ts';
import { permalinkUrl } from './acp/sessions.ts';
import type { PurchaseDeps } from './deps.ts';
import { findCheckoutSession } from './store/checkout-sessions.ts';
import { findPurchase } from './store/reads.ts';

type AnswerDeps = Pick<PurchaseDeps, 'db' | 'clock' | 'secretBox' | 'installData' | 'idSecret'> &
  InstallLinkDeps;

/**
 * The first answer under this key, byte for byte, where there is one. Otherwise the tag with what the key's
 * row says, so that the use case does not read it again. IDEMPOTENCY_KEY_REUSED for another request,
 * IDEMPOTENCY_KEY_IN_USE while the first one may still be running.
 */
export async function findStoredAnswer(
  deps: AnswerDeps,
  principal: Principal,
  tag: IdempotencyContext,
): Promise<{ readonly answer?: StoredAnswer; readonly tag: IdempotencyContext }> {
  const found = await findRequest(deps, principal, tag);
  const { earlier } = found;
  if (earlier && !isSameRequest(earlier, tag)) throw keyReused();
  if (earlier) noteSubject(earlier);
  if (earlier?.answer) return { tag, answer: await withSecrets(deps, principal, earlier, earlier.answer) };
  if (earlier) requireFinished(deps, earlier);
  return { tag: { ...tag, found } };
}

/**
 * Keeps the answer, without secrets. Returns the one kept before, where another request with the same key was
 * faster.
 */
export async function storeAnswer(
  deps: AnswerDeps,
  principal: Principal,
  tag: IdempotencyContext,
  { statusCode, body }: StoredAnswer,
): Promise<StoredAnswer | undefined> {
  const accountId = principal.account.id;
  const { key, path, fingerprint, found } = tag;
  const owner = { accountId, key, path, fingerprint, transactionId: found?.transactionId ?? '' };
  const answer = { statusCode, body: withoutEndpointSecrets(body) };
  if (await keepAnswer(deps.db, owner, answer)) return undefined;
  const record = await findIdempotencyKey(deps.db, accountId, key);
  // Another request has the key: this answer is about nothing that the key stands for.
  if (!record?.answer || !isSameRequest(record, tag)) return undefined;
  return withSecrets(deps, principal, record, record.answer);
}

async function withSecrets(
  deps: AnswerDeps,
  principal: Principal,
  { transactionId }: IdempotencyRecord,
  answer: StoredAnswer,
): Promise<StoredAnswer> {
  if (!answer.body.includes('\u0001')) return answer;
  if (isId('checkout', transactionId)) {
    const session = await findCheckoutSession(deps.db, principal.account.id, transactionId);
    const permalink_url = await permalinkUrl(deps, principal, session ?? { esim_id: null });
    return { ...answer, body: fillPlaceholders(answer.body, { permalink_url }) };
  }
  if (isId('endpoint', transactionId)) {
    const body = await withEndpointSecrets(deps, principal.account.id, transactionId, answer.body);
    return { ...answer, body };
  }
  const esim = (await findPurchase(deps.db, transactionId))?.esim;
  return esim
    ? { ...answer, body: fillPlaceholders(answer.body, deps.installData.open(esim, principal)) }
    : answer;
}

/**
 * Install data is kept with its eSIM only. Answers kept for an Idempotency-Key hold placeholders with the
 * column's name instead, which are filled for each caller.
 */
const SECRET_COLUMNS = ['ac', 'matching_id', 'qr_code_url', 'short_url'] as const;
/** The link to the page that installs the eSIM of a checkout session. */
const PERMALINK = 'permalink_url';
type SecretName = (typeof SECRET_COLUMNS)[number] | typeof PERMALINK;

const NAMES = [...SECRET_COLUMNS, PERMALINK].join('|');
const placeholderOf = (name: SecretName): string => `\u0001${name}\u0001`;
/** JSON text holds no raw control character, so a placeholder is never part of an answer. */
const PLACEHOLDER = new RegExp(`\u0001(${NAMES})\u0001`, 'g');
/** A placeholder as JSON writes it, with its quotes. */
const ESCAPED_PLACEHOLDER = new RegExp(`"\\\\u0001(${NAMES})\\\\u0001"`, 'g');

/** Renders an eSIM's answer twice: `stored` with placeholders, to be kept, and `body`, for the caller. */
export function renderWithPlaceholders(
  esim: EsimView,
  render: (esim: EsimView) => string,
): { readonly body: string; readonly stored: string } {
  // A field that is empty in the first answer stays empty in every repeat.
  const known = SECRET_COLUMNS.filter((column) => esim[column] !== '');
  const hidden = Object.fromEntries(known.map((column) => [column, placeholderOf(column)]));
  const stored = render({ ...esim, ...hidden }).replaceAll(ESCAPED_PLACEHOLDER, '\u0001$1\u0001');
  return { stored, body: fillPlaceholders(stored, esim) };
}

/** The same for the answer about a checkout session. */
export function renderWithoutPermalink(
  permalinkUrl: string,
  render: (permalinkUrl: string) => string,
): { readonly body: string; readonly stored: string } {
  const hidden = render(placeholderOf(PERMALINK));
  return { body: render(permalinkUrl), stored: hidden.replaceAll(ESCAPED_PLACEHOLDER, '\u0001$1\u0001') };
}

export function fillPlaceholders(
  text: string,
  secrets: Readonly<Partial<Record<SecretName, string>>>,
): string {
  return text.replaceAll(PLACEHOLDER, (_placeholder, name: SecretName) =>
    JSON.stringify(secrets[name] ?? ''),
  );
}
