/** `approvals`, `approve`, `decline`: moves over the limit wait for a second person. */
import { z } from 'zod';
import type { FinanceWorld } from '../../platform/composition/finance.ts';
import { OperatorMistake } from '../operator-mistake.ts';
import { defineCommand, type Command } from './command.ts';
import { notAsked } from './confirm.ts';
import { previewEntryOf, type Preview } from './foresight.ts';
import { WHO } from './fields.ts';
import { toResult } from './moves.ts';
import { moment, money } from './output.ts';
import { confirmSeen } from './targets.ts';

export const approvalsCommand = defineCommand({
  name: 'approvals',
  usage: '',
  help: 'moves that wait for a second person',
  words: [0, 0],
  flags: z.object({}),
  run: async ({ world, out }) => {
    const waiting = await world.actions.pendingApprovals();
    out.json(waiting);
    if (waiting.length === 0) out.line('nothing waits');
    else
      out.table(
        ['MOVE', 'TRANSACTION', 'WHAT', 'AMOUNT', 'BY', 'REASON', 'UNTIL'],
        waiting.map((move) => [
          move.moveId,
          move.transactionId,
          move.move,
          money(move.amount?.amountMinor, move.amount?.currency),
          move.by,
          move.reason,
          moment(move.expiresAt),
        ]),
      );
    return 0;
  },
});

export const approveCommand = second(
  'approve',
  'approves a move that waits, and makes it; another person than who asked',
);
export const declineCommand = second('decline', 'says no to a move that waits; it is not made');

function second(name: 'approve' | 'decline', help: string): Command {
  return defineCommand({
    name,
    usage: '<moveId or transactionId> --by <person> [--dry-run] [--yes]',
    help,
    words: [1, 1],
    flags: z.object({ by: WHO.by }),
    switches: ['dry-run', 'yes'],
    needsTemporal: name === 'approve',
    run: async ({ words: [id = ''], flags: { by }, switches, world, out }) => {
      const isDryRun = switches['dry-run'];
      const verb = name === 'approve' ? 'Approve' : 'Decline';
      if (!isDryRun && !switches.yes && !out.isTerminal) notAsked(`${verb} ${id}?`);
      const { moveId, transactionId } = await findWaiting(world, id);
      if (isDryRun || !switches.yes) {
        const seen = await foresee(world, name, { moveId, transactionId });
        const ended = await confirmSeen(out, seen, { isDryRun, question: `${verb} ${moveId}?` });
        if (ended !== undefined) return ended;
      }
      const result = toResult(transactionId, await world.actions[name](moveId, by));
      out.json(result);
      out.line(`${transactionId}  ${result.outcome}  ${result.detail}`);
      return result.outcome === 'done' ? 0 : 1;
    },
  });
}

async function foresee(
  { actions }: FinanceWorld,
  name: 'approve' | 'decline',
  { moveId, transactionId }: { readonly moveId: string; readonly transactionId: string },
): Promise<Preview> {
  if (name === 'decline')
    return { transactionId, outcome: 'would-do', detail: '', lines: ['It is not made; nothing moves.'] };
  const foresight = await actions.previewApproval(moveId);
  return foresight
    ? previewEntryOf(transactionId, foresight)
    : { transactionId, outcome: 'refused', detail: `nothing waits under ${moveId}`, lines: [] };
}

/** By its own id, or by what it is about where one alone waits. One that waits no more is judged by whoever makes moves. */
async function findWaiting(
  { actions }: FinanceWorld,
  id: string,
): Promise<{ readonly moveId: string; readonly transactionId: string }> {
  if (id.startsWith('move-')) {
    const waiting = (await actions.pendingApprovals()).find((move) => move.moveId === id);
    return { moveId: id, transactionId: waiting?.transactionId ?? id };
  }
  const waiting = (await actions.listFor(id)).filter((move) => move.status === 'WAITS_FOR_APPROVAL');
  const [only] = waiting;
  if (!only) throw new OperatorMistake(`nothing of ${id} waits for approval`);
  if (waiting.length > 1)
    throw new OperatorMistake(
      `several moves wait: name one of ${waiting.map((move) => move.moveId).join(', ')}`,
    );
  return only;
}
