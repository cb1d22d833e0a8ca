/** The audit log. */
import { z } from 'zod';
import { isoTime, money, text, namedObject } from '../../platform/http/answer-fields.ts';
import { textField, timeField } from '../../platform/http/fields.ts';
import {
  MAX_AUDIT_ACTION_CHARACTERS,
  MAX_AUDIT_SUBJECT_CHARACTERS,
  MAX_EMAIL_CHARACTERS,
} from '../../platform/http/limits.ts';
import { environmentField, operatorRoutes } from '../../platform/http/ops-route.ts';
import { cursorPageSchema, limitField } from '../../platform/http/page.ts';
import type { Route } from '../../platform/http/route.ts';
import type { AuditCursor } from '../audit-log.ts';
import type { OperatorCases } from '../operator-use-cases.ts';
import { ACTION_RECORD_STATUSES } from '../rules.ts';
import { moneyFields } from './shared.ts';

const routes = operatorRoutes<OperatorCases>('Audit');
const CURSOR = /^audit:(\d{1,16}):(?:(\d{1,18})|(action-[0-9a-f]{32}))$/;

const encodeCursor = ({ atMicros, id }: AuditCursor): string =>
  Buffer.from(`audit:${atMicros}:${id}`).toString('base64url');

/** undefined for a text that `encodeCursor` has not made. */
function decodeCursor(text: string): AuditCursor | undefined {
  const [, micros, row, action] = CURSOR.exec(Buffer.from(text, 'base64url').toString()) ?? [];
  if (micros === undefined) return undefined;
  const atMicros = BigInt(micros);
  const cursor: AuditCursor =
    action === undefined
      ? { source: 'account', atMicros, id: BigInt(row ?? '0') }
      : { source: 'action', atMicros, id: action };
  return encodeCursor(cursor) === text ? cursor : undefined;
}

const auditQuery = z
  .object({
    ...environmentField,
    actor: textField({
      max: MAX_EMAIL_CHARACTERS,
      description: 'Who did it, asked for it or approved it, exactly as the log has it',
      example: 'ada@operator.example',
    }).optional(),
    action: textField({
      max: MAX_AUDIT_ACTION_CHARACTERS,
      description: 'Exactly as the log has it',
      example: 'account.change',
    }).optional(),
    subject: textField({
      max: MAX_AUDIT_SUBJECT_CHARACTERS,
      description: 'The id that it is about, in full',
      example: 'txn-6f9619ff8b864d0191f1c2d3e4f5a6b7',
    }).optional(),
    from: timeField({ description: 'Included' }).optional(),
    to: timeField({ description: 'Excluded' }).optional(),
    after: z
      .string()
      .transform((text, check) => {
        const cursor = decodeCursor(text);
        if (cursor) return cursor;
        check.addIssue({ code: 'custom', message: 'must be a `nextCursor` of this list' });
        return z.NEVER;
      })
      .optional()
      .meta({ type: 'string', description: 'Continues behind an earlier page: its `nextCursor`' }),
    limit: limitField('Lines at most'),
  })
  .refine(({ from, to }) => !from || !to || from < to, { path: ['to'], message: 'must be after from' });

const auditLine = namedObject('AuditLine', {
  id: z.string().meta({ example: 'audit-4711' }),
  at: isoTime('ISO 8601'),
  by: z.string().meta({ example: 'ada@operator.example' }),
  action: z.string().meta({ example: 'account.change' }),
  subject: text('An id; of a refused request its method and path', 'acc-6f9619ff8b864d0191f1c2d3e4f5a6b7'),
  detail: text('What was done, or why it was refused', 'plan: STANDARD → PREMIUM').nullable(),
  amount: money('Null where no money moves').nullable(),
  currency: z.string().nullable().meta({ example: 'NGN' }),
  reason: z.string().nullable().meta({ example: 'Signed the contract, ticket 4711' }),
  approvedBy: z.string().nullable(),
  outcome: z.enum(ACTION_RECORD_STATUSES),
});

const auditSchema = cursorPageSchema(auditLine, 'AuditLog');

export const auditRoutes: readonly Route<OperatorCases>[] = [
  routes.get('/ops/audit', {
    permission: 'audit',
    query: auditQuery,
    answer: [200, 'One page, newest first', auditSchema],
    operationId: 'listAudit',
    summary: 'Read the audit log',
    description:
      'Changes of accounts, keys, members and people, sign-ins and refusals, whichever the environment, and the operator actions of the environment ' +
      'that is named. Lines never change, except that an action that waits gets its outcome. No line holds a secret.',
    async handle({ cases, query: { actor, action, subject, from, to, after, limit } }) {
      const filters = { actor, action, subject, from, to };
      const { items, next } = await cases.readAudit({ ...filters, after, limit });
      return {
        items: items.map((line) => ({ ...line, ...moneyFields(line.amount) })),
        nextCursor: next ? encodeCursor(next) : null,
      };
    },
  }),
];
