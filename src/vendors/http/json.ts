/** An answer that is not what the vendor's reference promises. */
export class UnreadableAnswer extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'UnreadableAnswer';
  }
}

/** Parses JSON with every number kept as the text it was written as. Throws SyntaxError when it is no JSON. */
export function parseWithNumbersAsText(json: string): unknown {
  const keepSource = (_key: string, value: unknown, context?: { readonly source?: string }): unknown =>
    typeof value === 'number' ? (context?.source ?? '') : value;
  const parsed: unknown = JSON.parse(json, keepSource);
  return parsed;
}
