// Faults in the shop that resellers copy: what makes one purchase of an order, and keeps visitors harmless.
import { type Fault, faultsIn } from './fault.ts';

const SHOP = 'test/examples/shop.test.ts';

export const SHOP_FAULTS: readonly Fault[] = faultsIn('examples/shop/shop.ts', SHOP, {
  'the shop buys without the stored intent': [
    "simway.send(JSON.parse(intent) as ReturnType<typeof intend<'buy'>>)",
    'simway.buy({ body: (JSON.parse(intent) as { body: never }).body })',
  ],
  'the shop fails an order whose outcome is unknown': [
    "if (error.intent && error.code !== 'INTENT_TOO_OLD') throw error;",
    '',
  ],
  'the shop writes into HTML as it is': [': escape(String(value', ': (String(value'],
  'the shop takes any text as an e-mail address': [
    'if (!EMAIL.test(email)) return',
    "if (email === '') return",
  ],
  'the shop takes any form': ['if (!FORM.test(', "if ('' === ("],
  'the shop reads bodies of any length': ['{ limit: 4_096 }', '{}'],
  'a second click on a form of the shop fails': ['< 500 on conflict do nothing', '< 500'],
  'the shop takes orders without a limit': [
    'where nextAt is not null) < 500 on',
    'where nextAt is not null) >= 0 on',
  ],
  'the shop marks an e-mail before it is sent': [
    '  await mailer.sendMail({',
    '  set(id, { nextAt: null });\n  await mailer.sendMail({',
  ],
  'an e-mail of the shop has a new id each time': ['messageId: `<${id}@', 'messageId: `<${Date.now()}@'],
  'the shop takes webhooks of everyone': [
    'verifyWebhook(await rawBody(ctx.req, { limit: 65_536 }), ctx.headers, WEBHOOK_SECRET)',
    '{ ...verifyWebhook, data: JSON.parse(String(await rawBody(ctx.req))) as { transactionId: string } }',
  ],
  'the shop forgets what a webhook says': [
    "if ('transactionId' in data) due.run",
    "if ('nothing' in data) due.run",
  ],
  'two shops share a file of orders': ['pragma locking_mode = exclusive; ', ''],
});
