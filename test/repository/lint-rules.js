// Two rules of our own, for .oxlintrc.json.

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

export default {
  meta: { name: 'simway' },
  rules: { 'comment-width': commentWidth, 'no-text-from-code': noTextFromCode },
};
