// The specification's error bodies, written out once more, by hand, for tests to compare with.
export const shape1 = (code: string, message: string, details: string = message) => ({
  success: false,
  message,
  error: { code, details },
});
export const shape2 = (statusCode: number, code: string, message: string) => ({
  success: false,
  message,
  statusCode,
  code,
});
export const shape3 = (statusCode: number, code: string, message: string) => ({
  success: false,
  error: { code, message },
  statusCode,
});
export const unauthorised = (error: string, message: string) => ({ error, message, statusCode: 401 });
