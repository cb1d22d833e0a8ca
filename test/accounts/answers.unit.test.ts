// What the routes about people send of what their handlers return.
import { expect, test } from 'vitest';
import { z } from 'zod';
import { dataSchema } from '../../src/platform/http/answer-fields.ts';
import { routesWith } from '../../src/platform/http/define-routes.ts';

test('a field that the schema does not have is not sent', async () => {
  const found = { userId: 'user-1', passwordHash: 'secret', cookies: ['session=1'] };
  const route = routesWith<object, 'anybody'>('anybody', 'Signing in').get('/auth/example', {
    answer: [200, 'Found', dataSchema(z.object({ userId: z.string() }), 'Example')],
    operationId: 'example',
    summary: 'An example',
    description: 'An example',
    handle: () => Promise.resolve(found),
  });
  expect(await route.handle({} as never)).toEqual({
    status: 200,
    body: '{"success":true,"data":{"userId":"user-1"}}',
    cookies: ['session=1'],
  });
});
