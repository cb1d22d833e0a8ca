/** How a move ended → an answer. A refused move is refused with what would fit; one that nobody knows about, with how to find out. */
import { DomainError } from '../../domain/errors.ts';
import type { ActionOutcome } from '../rules.ts';
import type { Answer, ErrorAnswer } from '../../platform/http/errors.ts';
import { STATUS_OF } from '../../platform/http/errors.ts';
import { toJson } from '../../platform/http/json.ts';

/** Throws FORBIDDEN (the same person twice), SERVICE_UNAVAILABLE (unknown: it may still be made), and `notFound` where nothing is there. */
export function actionAnswer(
  outcome: ActionOutcome,
  notFound: 'TRANSACTION_NOT_FOUND' | 'NOT_FOUND' = 'TRANSACTION_NOT_FOUND',
): Answer | ErrorAnswer {
  switch (outcome.outcome) {
    case 'done': {
      const { moveId, did, again = false } = outcome;
      return { status: 200, body: toJson({ success: true, data: { outcome: 'done', moveId, did, again } }) };
    }
    case 'waits-for-approval': {
      const { moveId, expiresAt } = outcome;
      const data = { outcome: 'waits-for-approval', moveId, expiresAt };
      return { status: 202, body: toJson({ success: true, data }) };
    }
    case 'refused':
      if (outcome.code === 'NOT_FOUND') throw new DomainError(notFound, outcome.detail);
      return refused(outcome);
    case 'unknown':
      throw new DomainError(
        'SERVICE_UNAVAILABLE',
        `Nobody answered in time, so it may still be made: the same request again tells (${outcome.detail})`,
      );
  }
}

function refused(refusal: Extract<ActionOutcome, { outcome: 'refused' }>): ErrorAnswer {
  const { code, detail, fits } = refusal;
  if (code === 'SAME_PERSON') throw new DomainError('FORBIDDEN', detail);
  const status = STATUS_OF.MOVE_REFUSED;
  const error = { code: 'MOVE_REFUSED', message: detail, refusal: code, fits };
  return {
    status,
    code: 'MOVE_REFUSED',
    body: toJson({ success: false, error, statusCode: status }),
  };
}
