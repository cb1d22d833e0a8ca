type DataIn<Body> = Extract<Body, { readonly data: unknown }>['data'];

/** The body of an answer. Refusals are thrown before (index.ts). */
export async function bodyOf<Body>(
  answer: Promise<{ readonly data?: Body | undefined }>,
): Promise<NonNullable<Body>> {
  const { data } = await answer;
  if (data === undefined || data === null) throw new Error('The answer is empty');
  return data;
}

/** What an answer in the general envelope holds. */
export async function dataOf<Body>(
  answer: Promise<{ readonly data?: Body | undefined }>,
): Promise<DataIn<Body>> {
  const body = await bodyOf(answer);
  if (typeof body !== 'object' || !('data' in body)) throw new Error('The answer holds no data');
  return body.data;
}
