import type { Principal } from '../domain/account.ts';
import { isId } from '../domain/ids.ts';
import { checkEarlierTry, findRequest, noteSubject } from '../platform/idempotency/identify-request.ts';
import { keyReused } from '../platform/idempotency/refusals.ts';
import { findIdempotencyKey, keepAnswer } from '../platform/idempotency/store.ts';
import type { IdempotencyTag, StoredAnswer, IdempotencyRecord } from '../platform/idempotency/tag.ts';
import { withEndpointSecrets, withoutEndpointSecrets } from '../webhooks/endpoint-secrets.ts';
import type { PurchaseDeps } from './deps.ts';
import { fillPlaceholders, hasPlaceholders } from './install-secrets.ts';
import { findPurchase } from './store/reads.ts';

type AnswerDeps = Pick<PurchaseDeps, 'db' | 'clock' | 'secretBox' | 'idSecret'>;

/**
 * The first answer under this key, byte for byte, where there is one. Otherwise the tag with what the key's row says, so that the use case does not
 * read it again. IDEMPOTENCY_KEY_REUSED for another request, IDEMPOTENCY_KEY_IN_USE while the first one may still be running.
 */
export async function findStoredAnswer(
  deps: AnswerDeps,
  principal: Principal,
  tag: IdempotencyTag,
): Promise<{ readonly answer?: StoredAnswer; readonly tag: IdempotencyTag }> {
  const found = await findRequest(deps, principal, tag);
  const { earlier } = found;
  if (earlier && !isSameRequest(earlier, tag)) throw keyReused();
  if (earlier) noteSubject(earlier);
  if (earlier?.answer) return { tag, answer: await filled(deps, principal, earlier, earlier.answer) };
  if (earlier) checkEarlierTry(deps, earlier);
  return { tag: { ...tag, found } };
}

/** Keeps the answer, without secrets. Returns the one kept before, where another request with the same key was faster. */
export async function storeAnswer(
  deps: AnswerDeps,
  principal: Principal,
  tag: IdempotencyTag,
  { statusCode, body }: StoredAnswer,
): Promise<StoredAnswer | undefined> {
  const answer = { statusCode, body: withoutEndpointSecrets(body) };
  if (await keepAnswer(deps.db, principal.account.id, tag.key, answer)) return undefined;
  const record = await findIdempotencyKey(deps.db, principal.account.id, tag.key);
  if (!record?.answer) return undefined;
  if (!isSameRequest(record, tag)) throw keyReused();
  return filled(deps, principal, record, record.answer);
}

function isSameRequest(record: IdempotencyRecord, tag: IdempotencyTag): boolean {
  return record.fingerprint === tag.fingerprint && record.path === tag.path;
}

async function filled(
  deps: AnswerDeps,
  { account }: Principal,
  { transactionId }: IdempotencyRecord,
  answer: StoredAnswer,
): Promise<StoredAnswer> {
  if (!hasPlaceholders(answer.body)) return answer;
  if (isId('endpoint', transactionId)) {
    const body = await withEndpointSecrets(deps, account.id, transactionId, answer.body);
    return { ...answer, body };
  }
  const esim = (await findPurchase(deps.db, transactionId))?.esim;
  return esim ? { ...answer, body: fillPlaceholders(answer.body, esim) } : answer;
}
