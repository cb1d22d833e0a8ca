import { afterAll } from 'vitest';
import { expectSoundBooks } from '../money/invariants.ts';
import { startStack, type Stack, type StackOptions } from './stack.ts';

/** A stack for a whole test file. At its end the books must be sound; in any case it is closed. */
export async function soundStack(options: StackOptions = {}): Promise<Stack> {
  const stack = await startStack(options);
  afterAll(async () => {
    try {
      await expectSoundBooks(stack);
    } finally {
      await stack.close();
    }
  });
  return stack;
}
