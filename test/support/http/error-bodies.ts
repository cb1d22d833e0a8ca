// The error bodies of docs/API.md, written by hand, for tests to compare with.
export const baseError = (code: string, message: string, details: string = message) => ({
  success: false,
  message,
  error: { code, details, ...fieldsIn(code, details) },
});
export const topUpError = (statusCode: number, code: string, message: string) => ({
  success: false,
  message,
  statusCode,
  code,
  ...fieldsIn(code, message),
});
export const generalError = (statusCode: number, code: string, message: string) => ({
  success: false,
  error: { code, message, ...fieldsIn(code, message) },
  statusCode,
});
export const unauthorised = (error: string, message: string) => ({ error, message, statusCode: 401 });

/** What a refusal adds that has its own sentence for missing fields. */
export const required = (...names: string[]) => ({
  fields: names.map((field) => ({ field, problem: 'is required' })),
});

/** A list of what the text says is wrong: `amount: is required; paymentMethod: is required`. */
function fieldsIn(code: string, text: unknown) {
  if (code !== 'VALIDATION_ERROR' || typeof text !== 'string') return {};
  const fields = text.split(/; (?=[\w.-]+: )/).flatMap((problem) => {
    const colon = problem.indexOf(': ');
    return colon < 0 ? [] : [{ field: problem.slice(0, colon), problem: problem.slice(colon + 2) }];
  });
  return fields.length > 0 ? { fields } : {};
}
