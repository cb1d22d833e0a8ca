/** `bundle <file>`: the workflows as one script, made where an image is built so that its workers start without webpack. */
import { writeBundle } from '../../platform/temporal/bundle.ts';
import { OperatorMistake } from '../operator-mistake.ts';

/** Takes the words after `bundle`; throws OperatorMistake unless they are one file. */
export async function runBundle(words: readonly string[]): Promise<void> {
  const [file, ...more] = words;
  if (file === undefined || more.length > 0) throw new OperatorMistake('bundle takes one file');
  await writeBundle(file);
}
