/**
 * Answers to repeated writes. The key's row is written by the purchase's first step; the exact answer is added here and given again,
 * byte for byte, with install secrets and endpoint secrets cut out of what is stored and put back from their own rows.
 */
import type { Principal } from '../domain/account.ts';
import { isId } from '../domain/ids.ts';
import { findEsim } from '../esims/store/esims.ts';
import { findIdempotencyKey, keepAnswer } from '../platform/idempotency/store.ts';
import { findPurchase } from './store/reads.ts';
import { withEndpointSecrets, withoutEndpointSecrets } from '../webhooks/endpoint-secrets.ts';
import { isStillRunning, keyInUse, keyReused } from '../platform/idempotency/refusals.ts';
import type { IdempotencyTag, StoredAnswer } from '../platform/idempotency/tag.ts';
import type { PurchaseDeps } from './deps.ts';
import { noteSubject } from '../platform/idempotency/earlier-try.ts';

export type IdempotencyDeps = Pick<PurchaseDeps, 'db' | 'clock'>;
type AnswerDeps = Pick<PurchaseDeps, 'db' | 'clock' | 'secretBox'>;

export async function findStoredAnswer(
  deps: AnswerDeps,
  principal: Principal,
  tag: IdempotencyTag,
): Promise<StoredAnswer | undefined> {
  const record = await findIdempotencyKey(deps.db, principal.account.id, tag.key);
  if (!record) return undefined;
  if (record.fingerprint !== tag.fingerprint || record.path !== tag.path) throw keyReused();
  noteSubject(record);
  if (record.answer) {
    const body = await withSecrets(deps, principal.account.id, record.transactionId, record.answer.body);
    return { ...record.answer, body };
  }
  if (isStillRunning(record, deps.clock.now())) throw keyInUse();
  return undefined;
}

/** Keeps the answer. Returns the one that was kept before, where somebody with the same key was faster: that one counts. */
export async function storeAnswer(
  deps: AnswerDeps,
  principal: Principal,
  tag: IdempotencyTag,
  answer: StoredAnswer,
): Promise<StoredAnswer | undefined> {
  const record = await findIdempotencyKey(deps.db, principal.account.id, tag.key);
  if (!record) return undefined;
  const body = await withoutSecrets(deps, record.transactionId, answer.body);
  const { statusCode } = answer;
  if (await keepAnswer(deps.db, principal.account.id, tag.key, { statusCode, body })) return undefined;
  return findStoredAnswer(deps, principal, tag);
}

const SECRET_COLUMNS = ['ac', 'matching_id', 'qr_code_url', 'short_url'] as const;

/** A JSON string can hold no raw control character, so this mark can never be part of an answer. */
const mark = (column: string): string => `\u0001${column}\u0001`;

async function withoutSecrets(deps: AnswerDeps, transactionId: string, body: string): Promise<string> {
  if (isId('endpoint', transactionId)) return withoutEndpointSecrets(body);
  return replaceSecrets(deps, transactionId, body, (text, column, json) =>
    text.replaceAll(json, mark(column)),
  );
}

async function withSecrets(
  deps: AnswerDeps,
  accountId: string,
  transactionId: string,
  body: string,
): Promise<string> {
  if (!body.includes('\u0001')) return body;
  if (isId('endpoint', transactionId)) return withEndpointSecrets(deps, accountId, transactionId, body);
  return replaceSecrets(deps, transactionId, body, (text, column, json) =>
    text.replaceAll(mark(column), () => json),
  );
}

async function replaceSecrets(
  deps: IdempotencyDeps,
  transactionId: string,
  body: string,
  replace: (text: string, column: string, json: string) => string,
): Promise<string> {
  const purchase = await findPurchase(deps.db, transactionId);
  const esim = purchase && (await findEsim(deps.db, purchase.purchase.esim_id));
  if (!esim) return body;
  return SECRET_COLUMNS.reduce(
    (text, column) => (esim[column] === '' ? text : replace(text, column, JSON.stringify(esim[column]))),
    body,
  );
}
