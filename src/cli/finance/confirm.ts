/** A yes before something that many will feel: by --yes, or by the person at the terminal. */
import { UsageMistake } from './command.ts';
import type { Output } from './output.ts';

/** Nobody sits at a terminal. */
export function notAsked(question: string): never {
  throw new UsageMistake(
    `${question} Nobody can be asked here: say --yes to do it, or --dry-run to see it; nothing was done`,
  );
}

/** `false`: the person said no. Throws UsageMistake where nobody can be asked. */
export async function isConfirmed(out: Output, isYes: boolean, question: string): Promise<boolean> {
  if (isYes) return true;
  if (!out.isTerminal) return notAsked(question);
  const answer = await out.ask(`${question} [y/N] `);
  if (/^y(es)?$/i.test(answer.trim())) return true;
  out.note('nothing was done');
  return false;
}
