// Three rules of our own, for .oxlintrc.json.

/** Prettier keeps code to 110 columns, and leaves comments alone. An address may be longer. */
const MAX_COLUMNS = 110;

const commentWidth = {
  create: (context) => ({
    Program() {
      const { lines } = context.sourceCode;
      for (const { loc } of context.sourceCode.getAllComments()) {
        for (let line = loc.start.line; line <= loc.end.line; line++) {
          const text = lines[line - 1];
          const end = line === loc.end.line ? loc.end.column : text.length;
          if (end > MAX_COLUMNS && !/https?:\/\//.test(text))
            context.report({
              message: `A comment ends before column ${MAX_COLUMNS}.`,
              loc: { line, column: MAX_COLUMNS },
            });
        }
      }
    },
  }),
};

/** `code.replace(/_/g, ' ')` would put a name of the API on a page. */
const noTextFromCode = {
  create: (context) => ({
    CallExpression({ callee, arguments: [pattern] }) {
      if (
        !callee.property?.name?.startsWith('replace') ||
        !/^\[?[-_]+\]?$/.test(pattern?.regex?.pattern ?? '')
      )
        return;
      context.report({
        message: 'No text is made from a code: give it a word in ui/words.ts.',
        node: pattern,
      });
    },
  }),
};

/**
 * The planner may run a subquery once for each row of a table that it takes for a small one. A locking one
 * passes over rows that this statement has changed already, and finds others each time: more are changed
 * than its limit.
 */
const lockOnce = {
  create: (context) => ({
    TaggedTemplateExpression({ tag, quasi }) {
      if (tag.name !== 'sql') return;
      const text = quasi.quasis.map(({ value }) => value.raw.replace(/--.*$/gm, '')).join('$');
      for (const { 0: start, index } of text.matchAll(/\(\s*(?:select|with)\b/gi))
        if (!RUNS_ONCE.test(text.slice(0, index)) && LOCKS.test(upToItsEnd(text.slice(index + start.length))))
          context.report({
            message:
              'A subquery that locks runs once: `any(array(select …))`, `= (select … limit 1)` or `with`.',
            node: quasi,
          });
    },
  }),
};

/** What stands before such a subquery: an array, a single row that is compared, a part of `with`. */
const RUNS_ONCE = /(?:\barray|=|\bas|\bmaterialized)\s*$/i;
const LOCKS = /\bfor\s+(?:(?:no\s+key\s+)?update|(?:key\s+)?share)\b/i;

/** What stands before the bracket that closes. */
function upToItsEnd(text) {
  let depth = 1;
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '(') depth++;
    if (text[at] === ')' && --depth === 0) return text.slice(0, at);
  }
  return text;
}

export default {
  meta: { name: 'simway' },
  rules: { 'comment-width': commentWidth, 'no-text-from-code': noTextFromCode, 'lock-once': lockOnce },
};
