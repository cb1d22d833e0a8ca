/** Notes of operators on accounts and purchases. */
import { z } from 'zod';
import { dataSchema, isoTime, namedObject } from '../../platform/http/answer-fields.ts';
import { idParameter, isCleanText, missingOr } from '../../platform/http/fields.ts';
import { environmentField, operatorRoutes, transactionId } from '../../platform/http/ops-route.ts';
import { cursorFields, cursorPageSchema } from '../../platform/http/page.ts';
import type { Route } from '../../platform/http/route.ts';
import { MAX_NOTE_CHARACTERS, type Noted } from '../notes.ts';
import type { OperatorCases } from '../operator-use-cases.ts';

const routes = operatorRoutes<OperatorCases>('Notes', {
  accountId: idParameter('account', 'The `accountId` of an account', 'No such account'),
  transactionId,
});

const NOTE_ID = /^note-\d{1,18}$/;

const note = namedObject('Note', {
  noteId: z.string().meta({ example: 'note-4711' }),
  text: z.string(),
  writtenBy: z.string().meta({ example: 'ada@operator.example' }),
  writtenAt: isoTime('ISO 8601'),
});

const pageOfNotes = cursorPageSchema(note, 'Notes');
const oneNote = dataSchema(note, 'WrittenNote');

const noteBody = namedObject('NoteRequest', {
  text: z
    .string({ error: missingOr('must be a string') })
    .max(MAX_NOTE_CHARACTERS, `must be at most ${MAX_NOTE_CHARACTERS} characters long`)
    .transform((text) => text.replaceAll('\r\n', '\n').trim())
    .refine((text) => text !== '', 'must not be empty')
    .refine(
      (text) => isCleanText(text.replaceAll('\n', ' ')),
      'must not contain control characters but line breaks, or broken Unicode',
    )
    .meta({
      type: 'string',
      description: `At most ${MAX_NOTE_CHARACTERS.toLocaleString('en')} characters, with line breaks. No card numbers, no passwords`,
      example: 'Called on 31 January: wants to move to PREMIUM in spring',
    }),
});

const notesQuery = z.object({ ...environmentField, ...cursorFields((text) => NOTE_ID.test(text), 'Notes') });
const placeOf = (after: string | undefined): bigint | undefined =>
  after === undefined ? undefined : BigInt(after.slice('note-'.length));

const about = <Param extends 'accountId' | 'transactionId'>({
  kind,
  of,
  param,
  at,
}: {
  kind: Noted['kind'];
  of: string;
  param: Param;
  at: `/ops/${string}/{${Param}}/notes`;
}): readonly Route<OperatorCases>[] => {
  const word = kind === 'account' ? 'Account' : 'Purchase';
  const notedBy = (params: Readonly<Record<string, string>>): Noted => ({ kind, id: params[param] ?? '' });
  return [
    routes.get(at, {
      permission: 'see',
      query: notesQuery,
      answer: [200, 'One page, newest first', pageOfNotes],
      operationId: `list${word}Notes`,
      summary: `List the notes on ${of}`,
      description: 'Written by operators, and read by operators only.',
      async handle({ cases, params, query: { after, limit } }) {
        const { items, next } = await cases.listNotes(notedBy(params), { after: placeOf(after), limit });
        return { items, nextCursor: next ?? null };
      },
    }),
    routes.post(at, {
      permission: 'see',
      confirmed: false,
      body: noteBody,
      answer: [200, 'The note', oneNote],
      operationId: `write${word}Note`,
      summary: `Write a note on ${of}`,
      description:
        'Under your name. A note is never changed and never removed. The same text again within a minute is the same note.',
      handle: ({ cases, session, params, body }) => cases.writeNote(session, notedBy(params), body.text),
    }),
  ];
};

export const noteRoutes: readonly Route<OperatorCases>[] = [
  ...about({ kind: 'account', of: 'an account', param: 'accountId', at: '/ops/accounts/{accountId}/notes' }),
  ...about({
    ...{ kind: 'purchase', of: 'a purchase or a funding', param: 'transactionId' },
    at: '/ops/purchases/{transactionId}/notes',
  }),
];
