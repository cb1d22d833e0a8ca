/** Why something failed, in one line for the log: what each error in the chain of causes says, outermost first. Pure. */

/** Two wrappings around what a driver says; deeper ones repeat it. */
const MAX_DEPTH = 4;
const MAX_CHARACTERS = 500;

/** Never throws, never empty. Words longer than the line are left out whole: half a secret is not recognised by the log's redaction. */
export function causeText(error: unknown): string {
  const words: string[] = [];
  for (let at = error, depth = 0; at !== undefined && depth < MAX_DEPTH; depth += 1) {
    words.push(ownWords(at));
    at = at instanceof Error ? at.cause : undefined;
  }
  const text = words.join(': ');
  return text.length <= MAX_CHARACTERS ? text : `${text.slice(0, MAX_CHARACTERS).replace(/\S*$/, '')}…`;
}

function ownWords(error: unknown): string {
  if (!(error instanceof Error)) return typeof error === 'string' ? error : `${typeof error} without words`;
  if (error.message !== '') return error.message;
  // A connection refused on every address of a name has a code and no words.
  return 'code' in error ? String(error.code) : error.name;
}
