// Writes generated.go: the types and calls of every route below /api, by oapi-codegen with the template
// beside this file. It is committed, because `go get` takes what is in the repository; `node generate.js
// FOLDER` writes it elsewhere, for the test that compares the two.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MAGIC_PACKAGES } from '../sdk/src/sandbox.ts';

const GENERATOR = 'github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2';
const ROOT = join(import.meta.dirname, '../..');
const WRITTEN = ['post', 'put', 'patch'];

const work = mkdtempSync(join(tmpdir(), 'simway-sdk-go-'));
try {
  const file = join(work, 'api.json');
  execFileSync(process.execPath, ['src/main.ts', 'openapi', 'api', file], { cwd: ROOT });
  writeFileSync(file, JSON.stringify(forGo(JSON.parse(readFileSync(file, 'utf8')))));
  const target = join(process.argv[2] ?? import.meta.dirname, 'generated.go');
  execFileSync('go', ['run', GENERATOR, '-config', 'oapi-codegen.yaml', '-o', target, file], {
    cwd: import.meta.dirname,
    stdio: 'inherit',
  });
} finally {
  rmSync(work, { recursive: true, force: true });
}

/** Go has no unions, and names no values by itself: this says what the calls and types are to be. */
function forGo({ info, openapi, components, paths, webhooks }) {
  const { schemas } = components;
  const kept = Object.entries(paths).filter(([path]) => /^\/api\/(?!openapi)/.test(path));
  const operations = kept.flatMap(([, methods]) => Object.entries(methods));
  for (const [method, operation] of operations) {
    // The key is made below the calls. A call has no cache.
    operation.parameters = operation.parameters?.filter((one) => one.in !== 'header');
    answerOf(operation, schemas);
    for (const parameter of operation.parameters ?? []) {
      shape(parameter.schema, {});
      parameter['x-go-type-skip-optional-pointer'] = true;
    }
    if (WRITTEN.includes(method)) {
      const body = operation.requestBody?.content['application/json'].schema.$ref.split('/').at(-1);
      if (body) shape(schemas[body], { isSent: true, isPart: method !== 'post' });
    }
  }
  schemas.Event.properties.event['x-go-type-name'] = 'EventName';
  schemas.Event.properties.data = { 'x-go-type': 'json.RawMessage', description: 'Read it with DataOf' };
  for (const [event, { post }] of Object.entries(webhooks))
    schemas[`${pascal(event)}Data`] = post.requestBody.content['application/json'].schema.properties.data;
  schemas.MagicPackage = {
    type: 'string',
    enum: MAGIC_PACKAGES,
    description: 'Package codes of the sandbox that choose what happens: docs/SANDBOX.md describes each',
  };
  const wanted = [
    'ErrorCode',
    'MagicPackage',
    ...Object.keys(webhooks).map((event) => `${pascal(event)}Data`),
  ];
  const reached = reachedFrom([operations, wanted.map((name) => ({ $ref: `/${name}` }))], schemas);
  const all = Object.fromEntries(Object.entries(schemas).filter(([name]) => reached.has(name)));
  for (const schema of Object.values(all)) shape(schema, {});
  return { openapi, info, paths: Object.fromEntries(kept), components: { schemas: all } };
}

/** One success, of one Go type: `Purchase` has the fields of `BasePurchase` and `TopUpPurchase`. */
function answerOf(operation, schemas) {
  const found = Object.entries(operation.responses).filter(([status]) => status.startsWith('2'));
  const contents = found.map(([, { content }]) => content['application/json'] ?? Object.values(content)[0]);
  const options = contents.flatMap(({ schema }) => schema.anyOf ?? [schema]);
  const isList = options[0].type === 'array';
  const names = options.map((one) => (isList ? one.items : one).$ref?.split('/').at(-1));
  const name = names[0] && commonEnd(names);
  if (names.length > 1) schemas[name] = merged(names.map((one) => schemas[one]));
  const $ref = `#/components/schemas/${name}`;
  const schema = isList ? { type: 'array', items: { $ref } } : name ? { $ref } : { type: 'string' };
  operation.responses = { 200: { description: 'Done', content: { 'application/json': { schema } } } };
  operation['x-answer'] = isList ? `[]${name}` : (name ?? 'string');
  if (isList || !operation.operationId.startsWith('list')) return;
  const { esims, data } = schemas[name].properties;
  operation['x-page'] = {
    name: operation.operationId.slice('list'.length),
    items: esims ? 'Esims' : 'Data.Items',
    item: (esims ?? data.properties.items).items.$ref.split('/').at(-1),
  };
}

/** Of `BasePurchase` and `TopUpPurchase`: `Purchase`. */
function commonEnd([first, ...others]) {
  const words = first.match(/[A-Z][a-z]+/g);
  const end = words
    .map((_, at) => words.slice(at).join(''))
    .find((one) => others.every((other) => other.endsWith(one)));
  if (!end) throw new Error(`no name for ${[first, ...others].join(' or ')}`);
  return end;
}

/** The fields of all of them; required are those that each requires. */
function merged(options) {
  const names = new Set(options.flatMap(({ properties }) => Object.keys(properties)));
  const properties = Object.fromEntries(
    Array.from(names, (name) => {
      const found = options.flatMap((one) => one.properties[name] ?? []);
      return [name, found[0].properties && found.length > 1 ? merged(found) : structuredClone(found[0])];
    }),
  );
  const required = [...names].filter((name) => options.every((one) => one.required?.includes(name)));
  return { type: 'object', description: options[0].description, properties, required };
}

/**
 * Names the values of lists, and leaves pointers only where absent means something else than empty: objects
 * of answers, parts of a change, and in what is sent what has an empty value of its own.
 */
function shape(schema, { isSent, isPart }) {
  if (!schema || '$ref' in schema) return;
  if (schema.enum?.length === 1 || schema.type === 'boolean') delete schema.enum;
  if (schema.enum?.every((value) => typeof value === 'string'))
    schema['x-enum-varnames'] ??= schema.enum.map((value) => pascal(value) || 'None');
  for (const [name, field] of Object.entries(schema.properties ?? {})) {
    const isOptional = !schema.required?.includes(name);
    // Absent and null are the same in what creates.
    if (isSent && !isPart && isOptional && Array.isArray(field.type)) [field.type] = field.type;
    const isObject = field.type === 'object' || '$ref' in field || Array.isArray(field.type);
    const isEmptyAbsent = ['string', 'number', 'array'].includes(field.type);
    if (isOptional && !isObject)
      field['x-go-type-skip-optional-pointer'] ??= isSent ? isEmptyAbsent && !isPart : true;
    if (name === '_id') field['x-go-name'] = 'ID';
    shape(field, { isSent, isPart });
  }
  shape(schema.items, { isSent, isPart });
}

function reachedFrom(start, schemas, reached = new Set()) {
  for (const [, name] of JSON.stringify(start).matchAll(/"\$ref":"[^"]*\/(\w+)"/g)) {
    if (reached.has(name)) continue;
    reached.add(name);
    reachedFrom(schemas[name], schemas, reached);
  }
  return reached;
}

/** `SIM-OK`, `INSUFFICIENT_BALANCE` and `esim.purchased` as Go writes names. */
function pascal(text) {
  const words = text.split(/[^A-Za-z0-9]+/).filter(Boolean);
  return words
    .map((word) => word[0].toUpperCase() + (/[a-z]/.test(word) ? word.slice(1) : word.slice(1).toLowerCase()))
    .join('');
}
