/** A yes before something that many will feel: by --yes, or by the person at the terminal. */
import { UsageMistake } from './command.ts';
import type { Output } from './output.ts';

/** `false`: the person said no. Throws UsageMistake where nobody can be asked. */
export async function isConfirmed(out: Output, isYes: boolean, question: string): Promise<boolean> {
  if (isYes) return true;
  if (!out.isTerminal) throw new UsageMistake(`${question} Say --yes to do it; nothing was done`);
  const answer = await out.ask(`${question} [y/N] `);
  if (/^y(es)?$/i.test(answer.trim())) return true;
  out.note('nothing was done');
  return false;
}
