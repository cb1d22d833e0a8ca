// The error bodies of docs/API.md, written by hand, for tests to compare with.
export const baseError = (code: string, message: string, details: string = message) => ({
  success: false,
  message,
  error: { code, details },
});
export const topUpError = (statusCode: number, code: string, message: string) => ({
  success: false,
  message,
  statusCode,
  code,
});
export const generalError = (statusCode: number, code: string, message: string) => ({
  success: false,
  error: { code, message },
  statusCode,
});
export const unauthorised = (error: string, message: string) => ({ error, message, statusCode: 401 });
